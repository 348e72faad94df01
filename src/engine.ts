// The public exports of a page without the elements, by name: the headless engine.

export type {
  AdapterAnswer,
  AdapterCall,
  AuthAdapter,
  AuthOptions,
  ChallengeBody,
  CredentialField,
} from './core/auth-options.ts';
export type {
  Candidate,
  Change,
  ChangeMap,
  ChangeName,
  CompletedDetail,
  ProgressDetail,
  TokenInput,
} from './core/changes.ts';
export { ERROR_CODES, type ErrorCode } from './core/error-codes.ts';
export { UploaderError } from './core/errors.ts';
export type { PauseReason, Phase } from './core/phases.ts';
export type { Profile } from './core/read-profile.ts';
export type { RetryPolicy } from './core/retries.ts';
export type { GetToken, Settings, SettingsInput, TransformFile } from './core/settings-table.ts';
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
export { Uploader } from './engine/uploader.ts';
export type { UploaderOptions } from './engine/uploader-options.ts';
