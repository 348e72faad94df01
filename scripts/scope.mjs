// What `npm test` runs, and what only `npm run verify` runs.

/** True in `npm run verify`: tests with random or large input run at full size. */
export const isFullSize = process.env.TEST_SIZE === 'full';

/** The first random seed of this run. `npm run verify` chooses and prints another one each time. */
export const firstSeed = Number(process.env.TEST_SEED || 1);

const filesIn = (folder, names) => names.split(' ').map((name) => `test/${folder}/${name}.test.ts`);

/**
 * The stages of `npm run verify`. A stage runs its `files`, or else all files of its suites that no stage with `files` runs, in
 * `browsers`, at full size. If `isAlone` is true, one file runs at a time. A stage with a `script` runs that command instead.
 * CONTRIBUTING.md describes the stages.
 */
export const STAGES = [
  { name: 'engines-chromium', suites: ['parts', 'engine', 'ui'] },
  { name: 'engines-firefox', suites: ['parts', 'engine', 'ui'], browsers: 'firefox' },
  { name: 'engines-webkit', suites: ['parts', 'engine', 'ui'], browsers: 'webkit' },
  { name: 'sign-in', suites: ['auth'], browsers: 'chromium,firefox' },
  { name: 'journeys', suites: ['e2e'], browsers: 'chromium,firefox,webkit' },
  {
    name: 'faults',
    files: filesIn(
      'e2e',
      'chaos fault-matrix fault-matrix-calls fault-matrix-offline fault-matrix-token journey-outage transfer-weather',
    ),
  },
  { name: 'service', suites: ['server'] },
  { name: 'package', suites: ['package'] },
  { name: 'examples', files: filesIn('package', 'examples loaded') },
  { name: 'build', files: filesIn('package', 'reproducible') },
  { name: 'security', script: 'check-security' },
  { name: 'visual', script: 'test-visual' },
  { name: 'site', script: 'test-site' },
  { name: 'stack', script: 'test-stack' },
  { name: 'survival', script: 'test-survival' },
  {
    name: 'timing',
    files: [
      ...filesIn(
        'e2e',
        'hand-over-time journey-large-folder journey-many-files photo-memory time-left transfer-memory',
      ),
      ...filesIn('server', 'fuzz long-journal'),
    ],
    isAlone: true,
  },
];

const ofStages = new Set(STAGES.flatMap(({ files = [] }) => files));

/** Other files that `npm test` leaves out, because they take too long. */
const LEFT_OUT = new Set([
  ...filesIn(
    'e2e',
    'accessibility auth-check-challenge auth-check-coop auth-check-exchange auth-check-expiry auth-check-frames auth-check-keyboard auth-check-leaks auth-check-page auth-check-passkey auth-check-sign-out auth-check-silent auth-check-tabs auth-check-upload auth-check-window auth-fits auth-shared-computer auth-sites auth-window blake3-policy broken-browser file-changes journey-bad-day journey-keeper-lost journey-keeper-queue journey-keeper-return journey-keeper-security journey-keeper-survives journey-leave journey-next-user journey-release journey-strict-pages journey-tabs journey-touch journey-whole-way layout-shift photo-fingerprinting transfer-multiplexed transfer-names transfer-once transfer-step-up transfer-throttle',
  ),
  ...filesIn('server', 'conform main openapi service-s3 service-s3-parts'),
  ...filesIn('package', 'changed check command mutation'),
  ...filesIn('survival', 'visit'),
]);

/** Files of stages that are part of `npm test`, too. */
const SHORT = new Set(filesIn('e2e', 'chaos'));

/** Returns true for a test file of `npm test`. */
export const isOfGate = (file) => !LEFT_OUT.has(file) && (!ofStages.has(file) || SHORT.has(file));

/** Returns true for a test file that a stage runs. */
export const isOfStage = (stage, file) => stage.files?.includes(file) ?? !ofStages.has(file);
