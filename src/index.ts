// The public exports. Importing this module does not register the elements; `define.ts` and `login.ts` do.

export type * from './core/auth-options.ts';
export type * from './core/changes.ts';
export type { GetToken, Profile, Settings, SettingsInput, TransformFile } from './core/config.ts';
export { ERROR_CODES, type ErrorCode } from './core/error-codes.ts';
export { UploaderError } from './core/errors.ts';
export type { PauseReason, Phase } from './core/phases.ts';
export type { RetryPolicy } from './core/retries.ts';
export type * from './core/types.ts';
export type { Diagnosis, Problem, Span } from './engine/trace.ts';
export { Uploader, type UploaderOptions, type UploaderOptions as EngineOptions } from './engine/uploader.ts';
export type {
  AuthRedirectDetail,
  FileAddDetail,
  SecureUploaderEventMap,
  SecureUploaderEvents,
} from './ui/event-map.ts';
export type { LoginMessages } from './ui/login-messages.ts';
export { ENGLISH, type ErrorMessages, type InterfaceMessages, type Messages } from './ui/messages.ts';
export { SecureUploader } from './ui/secure-uploader.ts';
export type { LoginProps, LoginTag, UploaderProps, UploaderTag } from './ui/tag.ts';
export type { Idp } from './ui/views/login.ts';
