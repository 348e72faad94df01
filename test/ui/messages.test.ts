// The English texts: all exist, and texts with numbers are correct for zero, one and many.

import { expect, fixture, html } from '@open-wc/testing';
import { ENGLISH, ERROR_CODES } from '../../src/index.ts';
import '../../src/define.ts';
import { ENGLISH_LOGIN } from '../../src/locales/en-login.ts';
import { LOGIN_TEXT_TYPES } from '../../src/ui/check-messages.ts';
import { settled } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';

/** Composed texts, each with its expected result. */
const COMPOSED: readonly (readonly [text: string, expected: string])[] = [
  [ENGLISH.upTo('5 MB'), 'up to 5 MB per file'],
  [ENGLISH.atMost(1), 'at most 1 file'],
  [ENGLISH.atMost(1200), 'at most 1,200 files'],
  [ENGLISH.reading(0), 'Reading files… 0 files found'],
  [ENGLISH.reading(1), 'Reading files… 1 file found'],
  [ENGLISH.emptyFolders(1), '1 empty folder was skipped.'],
  [ENGLISH.emptyFolders(2), '2 empty folders were skipped.'],
  [ENGLISH.uploadAs('b.txt'), 'Upload as b.txt'],
  [ENGLISH.actionOn('Pause', 'b.txt'), 'Pause: b.txt'],
  [ENGLISH.start(1), 'Upload 1 file'],
  [ENGLISH.start(2), 'Upload 2 files'],
  [ENGLISH.progressOf('b.txt'), 'Progress of b.txt'],
  [ENGLISH.sizeOf('1 kB', '2 kB'), '1 kB of 2 kB'],
  [ENGLISH.left('4 min'), '4 min left'],
  [ENGLISH.doneOf(1000, 2000), '1,000 of 2,000 files done'],
  [ENGLISH.doneOf(0, 1), '0 of 1 file done'],
  [ENGLISH.ready(1), '1 file ready to upload'],
  [ENGLISH.uploading(1000), 'Uploading 1,000 files'],
  [ENGLISH.chooseAllAgain(2), 'Choose 2 files again'],
  [ENGLISH.allUploaded(1), '1 file uploaded'],
  [ENGLISH.allUploaded(1000), 'All 1,000 files uploaded'],
  [ENGLISH.failed(2), '2 files failed'],
  [ENGLISH.rejected(1), "1 file wasn't added"],
  [ENGLISH.rejected(2), "2 files weren't added"],
  [ENGLISH.limit('PDF'), 'Allowed: PDF.'],
  [ENGLISH.more(3), 'and 3 more'],
  [ENGLISH.coolingText(undefined), 'Trying again soon.'],
  [ENGLISH.coolingText('5 s'), 'Trying again in about 5 s.'],
  [ENGLISH.announceSums('40%', 1, 3, undefined), '40% uploaded, 1 of 3 files done.'],
  [ENGLISH.announceSums('40%', 1, 3, '4 min left'), '40% uploaded, 1 of 3 files done, 4 min left.'],
  [ENGLISH.announceFinished(0, 0, 0), 'Finished: 0 files uploaded.'],
  [ENGLISH.announceFinished(1, 0, 0), 'Finished: 1 file uploaded.'],
  [ENGLISH.announceFinished(0, 2, 0), 'Finished. 2 files failed to upload.'],
  [ENGLISH.announceFinished(0, 0, 1), 'Finished. 1 file canceled.'],
  [
    ENGLISH.announceFinished(3, 2, 1),
    'Finished: 3 files uploaded. 2 files failed to upload. 1 file canceled.',
  ],
  [ENGLISH.announceFailed(1, 'b.txt', 'Why.'), 'b.txt: Why.'],
  [ENGLISH.announceFailed(2, 'b.txt', 'Why.'), '2 files failed to upload. b.txt: Why.'],
  [ENGLISH.announceRejected(1, 'b.txt', 'Why.'), "b.txt wasn't added. Why."],
  [ENGLISH.announceRejected(2, 'b.txt', 'Why.'), "2 files weren't added. b.txt: Why."],
  [ENGLISH_LOGIN.signInWith('Corp'), 'Sign in with Corp'],
  [ENGLISH_LOGIN.sentTo('+1 ···42'), 'Sent to +1 ···42.'],
  [ENGLISH_LOGIN.attemptsLeft(1), '1 attempt left.'],
  [ENGLISH_LOGIN.attemptsLeft(2), '2 attempts left.'],
  [ENGLISH_LOGIN.waitNumber('42'), 'Select 42 on your phone.'],
  [ENGLISH_LOGIN.sendAgainIn(7), 'Send again in 7 s'],
  [ENGLISH_LOGIN.seconds(7), '7 s'],
];

/** Returns all texts, each with its path such as `phases.done`. */
function plainTexts(texts: object, path = ''): (readonly [path: string, text: unknown])[] {
  return Object.entries(texts).flatMap(([name, text]) =>
    typeof text === 'object' ? plainTexts(text, `${path}${name}.`) : [[path + name, text] as const],
  );
}

describe('the English texts', () => {
  it('have a sentence for every error: what happened, and what to do', () => {
    for (const code of ERROR_CODES) expect(ENGLISH[code], code).to.match(/^[A-Z].+\.$/);
  });

  it('include no empty text', () => {
    const texts = plainTexts(ENGLISH_LOGIN).filter(([, text]) => typeof text !== 'function');
    expect(texts.length).to.be.greaterThan(100);
    for (const [path, text] of texts) expect(text, path).to.match(path === 'locale' ? /^en$/ : /\p{L}.+/u);
  });

  it('include the composed texts of the widget and of the form', () => {
    for (const [text, expected] of COMPOSED) expect(text).to.equal(expected);
  });

  it('cannot be changed by one page for all others', () => {
    expect(Object.isFrozen(ENGLISH)).to.equal(true);
    expect(Object.isFrozen(ENGLISH_LOGIN)).to.equal(true);
  });
});

describe('texts of the page', () => {
  const warningsFor = async (messages: object): Promise<readonly string[]> => {
    let all: readonly string[] = [];
    await captureWarnings(async (warnings) => {
      await fixture(html`<secure-uploader .messages=${messages}></secure-uploader>`);
      await import('../../src/ui/check-messages.ts');
      await settled();
      all = [...warnings];
    });
    return all;
  };

  it('that do not exist, or that have the wrong type, cause a warning that says what is right', async () => {
    const texts = {
      dropfiles: 'a',
      'choose-files': 'b',
      greeting: 'c',
      doneOf: 'd',
      chooseFile: () => 'e',
      code: 1,
    };
    expect(await warningsFor(texts)).to.deep.equal([
      'secure-uploader: The text messages.dropfiles does not exist. Did you mean dropFiles?',
      'secure-uploader: The text messages.choose-files does not exist. Did you mean chooseFiles?',
      'secure-uploader: The text messages.greeting does not exist. See docs/i18n.md.',
      'secure-uploader: The text messages.doneOf must be of type function, not string.',
      'secure-uploader: The text messages.chooseFile must be of type string, not function.',
      'secure-uploader: The text messages.code must be of type string, not number.',
    ]);
  });

  it('that are no object are named once', async () => {
    expect(await warningsFor('de' as never)).to.deep.equal([
      'secure-uploader: messages must be an object such as { chooseFile: "…" }. For a language, see docs/i18n.md.',
    ]);
    expect(await warningsFor(['de', 'fr'])).to.deep.equal([]);
  });

  it('cause no warning if they are complete, also those of the sign-in form', async () => {
    expect(await warningsFor({ ...ENGLISH_LOGIN })).to.deep.equal([]);
    expect(Object.keys({ ...ENGLISH, ...LOGIN_TEXT_TYPES }).sort()).to.deep.equal(
      Object.keys(ENGLISH_LOGIN).sort(),
    );
  });
});
