// Names of the types of `accept` for users.

import { expect } from '@open-wc/testing';
import type { Messages } from '../../src/core/messages.ts';
import de from '../../src/locales/de.ts';
import { ENGLISH } from '../../src/locales/en.ts';
import { acceptedTypes } from '../../src/ui/accepted-types.ts';
import { createFormat } from '../../src/ui/format.ts';

const shown = (accept: string, messages: Messages = ENGLISH): string =>
  acceptedTypes(accept, messages, createFormat(messages.locale));

const OFFICE = 'application/vnd.openxmlformats-officedocument';

describe('the types of accept', () => {
  for (const [accept, text] of [
    ['', ''],
    ['*/*', ''],
    ['.pdf,*/*', ''],
    ['image/*', 'images'],
    ['IMAGE/*, .pdf', 'images or PDF'],
    ['image/*,video/*,audio/*,text/*', 'images, videos, audio files, or text files'],
    ['.docx,application/msword', 'DOCX or DOC'],
    [`application/pdf,${OFFICE}.spreadsheetml.sheet,video/*`, 'PDF, XLSX, or videos'],
    ['image/png,image/jpeg,image/svg+xml,text/plain,text/csv', 'PNG, JPEG, SVG, TXT, or CSV'],
    ['.zip,application/zip,application/x-zip-compressed', 'ZIP'],
    ['video/*; codecs=vp9,video/quicktime', 'videos or MOV'],
    ['font/*', 'other types'],
    ['application/vnd.example.report+json,.csv,model/*', 'CSV or other types'],
    ['application/octet-stream', 'other types'],
    ['.tar.gz', 'TAR.GZ'],
    ['constructor/*', 'other types'],
    ['constructor', 'other types'],
    ['__proto__/*', 'other types'],
  ] as const)
    it(`${JSON.stringify(accept)} are shown as ${JSON.stringify(text)}`, () => {
      expect(shown(accept)).to.equal(text);
    });

  it('are shown in the language of the texts', () => {
    expect(shown('image/*,.pdf,model/*', de)).to.equal('Bilder, PDF oder andere Typen');
  });
});
