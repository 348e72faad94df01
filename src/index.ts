// The public exports of a page with the elements, by name. Importing this module does not register the elements; `define.ts` and
// `login.ts` do. `secure-uploader/engine` has those of a page without them.

export type {
  AdapterAnswer,
  AdapterCall,
  AuthAdapter,
  AuthOptions,
  ChallengeBody,
  CredentialField,
} from './core/auth-options.ts';
export type { CompletedDetail, ProgressDetail, TokenInput } from './core/changes.ts';
export { ERROR_CODES, type ErrorCode } from './core/error-codes.ts';
export { UploaderError } from './core/errors.ts';
export type { LoginMessages, Messages } from './core/messages.ts';
export type { PauseReason, Phase } from './core/phases.ts';
export type { Profile } from './core/read-profile.ts';
export type { RetryPolicy } from './core/retries.ts';
export type { GetToken, SettingsInput, TransformFile } from './core/settings-table.ts';
export type {
  AddedFile,
  AuthMode,
  AuthSnapshot,
  AuthState,
  ErrorSnapshot,
  FileId,
  FileSnapshot,
  HashAlgorithm,
  Metadata,
  PickedFile,
  Rejection,
  SessionFile,
  Snapshot,
  Totals,
  UnreadableFile,
} from './core/types.ts';
export type { Diagnosis, Problem, Span } from './engine/trace.ts';
export type { UploaderOptions } from './engine/uploader-options.ts';
export { ENGLISH } from './locales/en.ts';
export type { AuthRedirectDetail, FileAddDetail, SecureUploaderEventMap } from './ui/event-map.ts';
export { SecureUploader } from './ui/secure-uploader.ts';
export type { LoginTag, UploaderProps, UploaderTag } from './ui/tag.ts';
export type { Idp } from './ui/views/login-step.ts';
