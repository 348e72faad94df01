// What pages and views see of an upload.

import type { ErrorCode } from '../core/errors.ts';
import { isActive, type Phase } from '../core/phases.ts';
import type { AddedFile, FilePhase, FileSnapshot, ProgressNumbers } from '../core/types.ts';
import type { UploadState } from './upload-state.ts';

/** The phases of runs that pages see under another name. */
const PUBLIC_PHASES = { opening: 'queued', transforming: 'hashing', accepted: 'committing' } as const;

/** Returns what pages and views see of a state: the phase, and the fields that a file has only in this phase. */
export function filePhaseOf(state: UploadState): FilePhase {
  switch (state.phase) {
    case 'held':
      return { phase: 'queued' };
    case 'canceling':
      return filePhaseOf(state.next);
    case 'withdrawn':
      return state.before.phase === 'queued'
        ? { phase: 'paused', pauseReason: 'user' }
        : filePhaseOf(state.before);
    case 'paused':
      return { phase: 'paused', pauseReason: state.reason === 'suspended' ? 'user' : state.reason };
    case 'removed':
      return { phase: 'canceled' };
    case 'opening':
    case 'transforming':
    case 'accepted':
      return { phase: PUBLIC_PHASES[state.phase], ...state.attempt };
    case 'hashing':
    case 'uploading':
    case 'committing':
      return { phase: state.phase, ...state.attempt };
    case 'failed':
      return { phase: 'failed', error: state.error };
    default:
      return { phase: state.phase };
  }
}

/** Returns the phase that pages and views see. */
export const publicPhase = (state: UploadState): Phase => filePhaseOf(state).phase;

/** Returns the snapshot of an upload. `numbers` are those that were reported last. Only a moving upload has a rate. */
export function fileSnapshotOf(
  file: AddedFile,
  state: UploadState,
  numbers: ProgressNumbers,
  warning: ErrorCode | undefined,
): FileSnapshot {
  const phase = filePhaseOf(state);
  const { bytesPerSecond, remainingMs, ...counts } = numbers;
  if (phase.phase === 'done')
    return { ...file, ...counts, sentBytes: file.sizeBytes, storedBytes: file.sizeBytes, ...phase };
  return { ...file, ...(isActive(phase.phase) ? numbers : counts), ...(warning && { warning }), ...phase };
}
