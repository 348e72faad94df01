// Test cases of the footer: files of the list, and expected outline (test/ui/outline.ts).

import { file } from '../../demo/states/snapshots.ts';
import type { FileSnapshot } from '../../src/index.ts';
import { type Cases, failed, paused, pdf, speeds } from './row-cases.ts';

const PAUSED = [
  'progress total-progress label=Progress of all files valuenow=50 valuetext=50% sent 50%',
  'totals-icon <upload>',
  'headline Paused',
  'totals-status 2 MB of 4 MB',
  'button resume-all-button <resume>Resume all',
  'button cancel-all-button <close>Cancel all',
];

export const TOTALS: Cases<{ readonly files: readonly FileSnapshot[]; readonly isManual?: boolean }> = {
  'one file is sent': [{ files: [pdf('uploading', 0.5, speeds)] }, []],
  'two files wait': [
    { files: [pdf('queued'), pdf('queued')] },
    [
      'progress total-progress label=Progress of all files valuenow=0 valuetext=0% sent 0%',
      'totals-icon <upload>',
      'headline Waiting',
      'totals-status 0 kB of 4 MB',
      'button pause-all-button <pause>Pause all',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'two files wait, with manual': [
    { files: [pdf('queued'), pdf('queued')], isManual: true },
    [
      'progress total-progress label=Progress of all files valuenow=0 valuetext=0% sent 0%',
      'totals-icon <upload>',
      'headline 2 files ready to upload',
      'totals-status 0 kB of 4 MB',
      'button start-button Upload 2 files',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'two files are sent': [
    { files: [pdf('uploading', 0.5, speeds), pdf('hashing')] },
    [
      'progress total-progress label=Progress of all files valuenow=25 valuetext=25% sent 25%',
      'totals-icon <upload>',
      'headline Uploading 2 files',
      'totals-status 25% · 3 min left · 1 MB of 4 MB · 8.2 MB/s',
      'button pause-all-button <pause>Pause all',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'two files are sent at an unknown speed': [
    { files: [pdf('uploading', 0.5), pdf('uploading', 0.5)] },
    [
      'progress total-progress label=Progress of all files valuenow=50 valuetext=50% sent 50%',
      'totals-icon <upload>',
      'headline Uploading 2 files',
      'totals-status 50% · 2 MB of 4 MB',
      'button pause-all-button <pause>Pause all',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'the last file is handed over': [
    { files: [pdf('done'), pdf('uploading', 0.999_999_5, speeds)] },
    [
      'progress total-progress label=Progress of all files valuenow=99 valuetext=99% sent 99%',
      'totals-icon <upload>',
      'headline Finishing…',
      'totals-status 1 of 2 files done · 4 MB of 4 MB',
      'button pause-all-button <pause>Pause all',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'one file is handed over, and another one waits': [
    { files: [pdf('uploading', 0.999_999_5), pdf('queued')] },
    [
      'progress total-progress label=Progress of all files valuenow=49 valuetext=49% sent 50%',
      'totals-icon <upload>',
      'headline Uploading 2 files',
      'totals-status 49% · 2 MB of 4 MB',
      'button pause-all-button <pause>Pause all',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'two wait for the connection, and another for its turn': [
    { files: [paused('offline'), paused('offline'), pdf('queued')] },
    [
      'progress total-progress label=Progress of all files valuenow=33 valuetext=33% sent 33.3%',
      'totals-icon <upload>',
      'headline Waiting for connection',
      'totals-status 2 MB of 6 MB',
      'button pause-all-button <pause>Pause all',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'two wait for different reasons': [
    { files: [paused('offline'), paused('other-tab')] },
    [
      'progress total-progress label=Progress of all files valuenow=50 valuetext=50% sent 50%',
      'totals-icon <upload>',
      'headline Waiting for connection',
      'totals-status 2 MB of 4 MB',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'two are paused by the user': [{ files: [paused('user'), paused('user')] }, PAUSED],
  'two wait for sign-in': [
    { files: [paused('signed-out'), paused('signed-out')] },
    [
      'progress total-progress label=Progress of all files valuenow=50 valuetext=50% sent 50%',
      'totals-icon <upload>',
      'headline Waiting for sign-in',
      'totals-status 2 MB of 4 MB',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'two wait for another proof of identity': [
    { files: [paused('challenge'), paused('challenge')] },
    [
      'progress total-progress label=Progress of all files valuenow=50 valuetext=50% sent 50%',
      'totals-icon <upload>',
      'headline Waiting for sign-in',
      'totals-status 2 MB of 4 MB',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'two wait for a busy service': [
    { files: [paused('rate-limited'), paused('rate-limited')] },
    [
      'progress total-progress label=Progress of all files valuenow=50 valuetext=50% sent 50%',
      'totals-icon <upload>',
      'headline Server busy, retrying soon',
      'totals-status 2 MB of 4 MB',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'two need their files, one waits for another tab': [
    { files: [paused('needs-file'), paused('other-tab'), paused('needs-file')] },
    [
      'progress total-progress label=Progress of all files valuenow=50 valuetext=50% sent 50%',
      'totals-icon <upload>',
      'headline Choose 2 files again',
      'totals-status 3 MB of 6 MB',
      'button choose-all-button Choose files',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'one needs its file, one is paused by the user': [
    { files: [paused('needs-file'), paused('user')] },
    PAUSED,
  ],
  'one failed since its name exists, another one for a missing permission': [
    { files: [failed('name-taken'), failed('forbidden')] },
    [
      'progress total-progress label=Progress of all files valuenow=50 valuetext=50% sent 50%',
      'totals-icon <alert>',
      'headline 2 files failed',
      'totals-status 2 MB of 4 MB',
      'button retry-failed-button <retry>Retry failed files',
    ],
  ],
  'one failed, one is done': [
    { files: [failed('network'), pdf('done')] },
    [
      'progress total-progress label=Progress of all files valuenow=75 valuetext=75% sent 75%',
      'totals-icon <alert>',
      'headline 1 file failed',
      'totals-status 1 of 2 files done · 3 MB of 4 MB',
      'button retry-failed-button <retry>Retry failed files',
      'button clear-button Clear finished',
    ],
  ],
  'two are done': [
    { files: [pdf('done'), pdf('done')] },
    [
      'progress total-progress label=Progress of all files valuenow=100 valuetext=100% sent 100%',
      'totals-icon <done>',
      'headline All 2 files uploaded',
      'totals-status 4 MB',
      'button clear-button Clear finished',
    ],
  ],
  'one is canceled, one is empty': [
    { files: [pdf('canceled'), file('b', 'queued', 0)] },
    [
      'progress total-progress label=Progress of all files valuenow=0 valuetext=0% sent 0%',
      'totals-icon <upload>',
      'headline Waiting',
      'totals-status 0 kB of 2 MB',
      'button pause-all-button <pause>Pause all',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'one is canceled, one is empty, with manual': [
    { files: [pdf('canceled'), file('b', 'queued', 0)], isManual: true },
    [
      'progress total-progress label=Progress of all files valuenow=0 valuetext=0% sent 0%',
      'totals-icon <upload>',
      'headline 1 file ready to upload',
      'totals-status 0 kB of 2 MB',
      'button start-button Upload 1 file',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'one is done, one is canceled': [
    { files: [pdf('done'), pdf('canceled')] },
    [
      'totals-icon <upload>',
      'headline 1 of 2 files done',
      'totals-status 4 MB',
      'button clear-button Clear finished',
    ],
  ],
  'two are canceled, of which one was half sent': [
    { files: [pdf('canceled'), pdf('canceled', 0.5)] },
    [
      'totals-icon <upload>',
      'headline 0 of 2 files done',
      'totals-status 4 MB',
      'button clear-button Clear finished',
    ],
  ],
  'one failed, one is canceled': [
    { files: [failed('network'), pdf('canceled')] },
    [
      'progress total-progress label=Progress of all files valuenow=25 valuetext=25% sent 25%',
      'totals-icon <alert>',
      'headline 1 file failed',
      'totals-status 1 MB of 4 MB',
      'button retry-failed-button <retry>Retry failed files',
      'button clear-button Clear finished',
    ],
  ],
  'one failed, one is sent': [
    { files: [failed('network'), pdf('uploading', 0.5, speeds)] },
    [
      'progress total-progress label=Progress of all files valuenow=50 valuetext=50% sent 50%',
      'totals-icon <upload>',
      'headline Uploading 1 file',
      'totals-status 50% · 1 file failed · 3 min left · 2 MB of 4 MB · 8.2 MB/s',
      'button pause-all-button <pause>Pause all',
      'button retry-failed-button <retry>Retry failed files',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'all files wait to retry': [
    {
      files: [
        pdf('uploading', 0.5, { ...speeds, retryAt: 25_000 }),
        pdf('uploading', 0.5, { retryAt: 12_000 }),
        pdf('queued'),
      ],
    },
    [
      'progress total-progress label=Progress of all files valuenow=33 valuetext=33% sent 33.3%',
      'totals-icon <upload>',
      'headline Retrying in 15 sec',
      'totals-status 2 MB of 6 MB',
      'button pause-all-button <pause>Pause all',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
  'one file waits to retry': [
    { files: [pdf('uploading', 0.5, { retryAt: 25_000 }), pdf('uploading', 0.5, speeds)] },
    [
      'progress total-progress label=Progress of all files valuenow=50 valuetext=50% sent 50%',
      'totals-icon <upload>',
      'headline Uploading 2 files',
      'totals-status 50% · 3 min left · 2 MB of 4 MB · 8.2 MB/s',
      'button pause-all-button <pause>Pause all',
      'button cancel-all-button <close>Cancel all',
    ],
  ],
};
