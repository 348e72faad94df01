// Which files are cleaned, refused, or left as they are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTask } from '../../src/photos/photo-tasks.ts';
import { stripLocation } from '../../src/photos/strip-location.ts';
import { type Bytes, bytesOf, heic, integer, join, littleEndian, png, strip } from './support.ts';

const space = new Uint8Array(200);
const named = (text: string): Bytes => join(bytesOf(text), space);

/** Returns 'same', 'cleaned' or 'unsupported'. */
async function fate(bytes: Bytes, name = '', type = ''): Promise<string> {
  const file = new File([bytes], name, { type });
  const result = await stripLocation(file);
  if (result === file) return 'same';
  return result === 'unsupported' ? result : 'cleaned';
}

async function assertFates(
  fates: string,
  files: readonly (readonly [Bytes, name?: string, type?: string])[],
) {
  for (const [bytes, name, type] of files)
    assert.equal(
      await fate(bytes, name, type),
      fates,
      `${name} ${type} ${Buffer.from(bytes.subarray(0, 16))}`,
    );
}

test('recognizes photos by their content, whatever their name and type', async () => {
  const others = [
    ['notes.txt', ''],
    ['film.mp4', 'video/mp4'],
    ['', 'application/pdf'],
  ] as const;
  for (const bytes of [littleEndian, png, heic])
    await assertFates(
      'cleaned',
      others.map((other) => [bytes, ...other]),
    );
});

test('recognizes all brands of still HEIC pictures, and refuses sequences and AVIF', async () => {
  const withBrand = (brand: string): [Bytes] => [
    join(heic.subarray(0, 8), bytesOf(brand), heic.subarray(12)),
  ];
  await assertFates('cleaned', ['heic', 'heix', 'heim', 'heis', 'mif1'].map(withBrand));
  await assertFates(
    'unsupported',
    ['hevc', 'hevx', 'msf1', 'avif', 'avis', 'crx ', 'mp42', 'qt  '].map(withBrand),
  );
});

test('refuses all other images, videos and recordings by their content', async () => {
  const starts = {
    AVI: 'RIFF\x10\0\0\0AVI LIST',
    'WAV, 64 bits': 'RF64\xff\xff\xff\xffWAVE',
    'TIFF, DNG, CR2, ARW': 'II*\0\x08\0\0\0',
    'TIFF, NEF': 'MM\0*\0\0\0\x08',
    BigTIFF: 'II+\0\x08\0\0\0',
    RW2: 'IIU\0\x18\0\0\0',
    ORF: 'IIRO\x08\0\0\0',
    'ORF, big-endian': 'MMOR\0\0\0\x08',
    CRW: 'II\x1a\0\0\0HEAPCCDR',
    RAF: 'FUJIFILMCCD-RAW 0201',
    MRW: '\0MRM\0\0\0\0',
    X3F: 'FOVb\0\0\0\0',
    'JPEG XR': 'II\xbc\x01',
    'JPEG XL': '\xff\n\0',
    'JPEG XL, in boxes': '\0\0\0\x0cJXL \r\n\x87\n',
    'JPEG 2000': '\0\0\0\x0cjP  \r\n\x87\n',
    'JPEG 2000 codestream': '\xff\x4f\xff\x51\0',
    PSD: '8BPS\0\x01',
    AVIF: '\0\0\0\x1cftypavif',
    CR3: '\0\0\0\x18ftypcrx ',
    MP4: '\0\0\0\x18ftypisom',
    MOV: '\0\0\0\x14ftypqt  ',
    M4A: '\0\0\0\x1cftypM4A ',
    '3GP': '\0\0\0\x1cftyp3gp4',
    'MOV, first box of 256 bytes': '\0\0\x01\0ftypqt  ',
    'AVIF, first box of 512 bytes': '\0\0\x02\0ftypavif',
    'MOV, free box of 512 bytes': '\0\0\x02\0free\0\0\0\0',
    'MOV without ftyp': '\0\0\x02\x10moov\0\0\0\x6cmvhd',
    'MOV, media first': '\x01\x23\x45\x67mdat',
    'MOV, wide first': '\0\0\0\x08wide\0\x10\0\0mdat',
    'WebM, Matroska': '\x1a\x45\xdf\xa3\x9f\x42\x86\x81',
    Ogg: 'OggS\0\x02',
    FLAC: 'fLaC\0\0\0\x22',
    MP3: 'ID3\x03\0\0',
    MPEG: '\0\0\x01\xba\x44',
    WMV: '\x30\x26\xb2\x75\x8e\x66\xcf\x11',
    FLV: 'FLV\x01\x05',
    RealMedia: '.RMF\0\0\0\x12',
    MXF: '\x06\x0e\x2b\x34\x02',
    AIFF: 'FORM\0\0\x10\0AIFF',
    CAF: 'caff\0\x01',
    AMR: '#!AMR\n',
    'MPEG-TS': `G${'\0'.repeat(187)}`.repeat(4),
    M2TS: `\0\0\0\0G${'\0'.repeat(187)}`.repeat(4),
  };
  for (const [format, start] of Object.entries(starts)) {
    assert.equal(await fate(named(start)), 'unsupported', format);
    assert.equal(await fate(named(start), 'photo.jpg', 'image/jpeg'), 'unsupported', `${format} as JPEG`);
  }
});

test('refuses unknown content with the name or type of an image, a video or a recording', async () => {
  const unknown = bytesOf('unknown 48.8584');
  const names =
    'a.jpg a.JPEG a.jpe a.jfif a.png a.apng a.gif a.heic a.HEIF a.heics a.hif a.avif a.webp a.tif a.tiff a.bmp a.ico ' +
    'a.svg a.svgz a.jxl a.jp2 a.jxr a.psd a.exr a.mpo a.insp a.livp a.dng a.cr2 a.cr3 a.crw a.nef a.nrf a.arw a.srw ' +
    'a.sr2 a.srf a.raf a.raw a.rw2 a.rwl a.orf a.pef a.mrw a.x3f a.3fr a.iiq a.gpr a.mp3 a.mp4 a.m4a a.m4v a.m4b ' +
    'a.mov a.qt a.3gp a.3gpp a.3g2 a.3ga a.mkv a.mka a.webm a.avi a.wmv a.wma a.asf a.flv a.mpg a.mpeg a.m2ts a.vob ' +
    'a.ogg a.oga a.ogv a.opus a.mxf a.insv a.lrv a.wav a.flac a.aac a.amr a.aif a.aiff';
  await assertFates(
    'unsupported',
    names.split(' ').map((name) => [unknown, name]),
  );
  const types = ['image/jpeg', 'image/x-unknown', 'video/mp4', 'video/mp2t', 'audio/mpeg'];
  await assertFates(
    'unsupported',
    types.map((type) => [named('unknown'), 'a', type]),
  );
  await assertFates('unsupported', [[new Uint8Array(), 'empty.jpg', 'image/jpeg']]);
});

test('leaves other files as they are', async () => {
  await assertFates('same', [
    [bytesOf('%PDF-1.7 48.8584 GPS'), 'a.pdf', 'application/pdf'],
    [
      bytesOf('PK\x03\x04'),
      'a.docx',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    [bytesOf('The free moov GPS data: geo:48.8,2.3'), 'a.txt', 'text/plain'],
    [bytesOf('<!DOCTYPE html><title>geo</title><svg></svg>'), 'a.html', 'text/html'],
    [bytesOf('const gps = 1;'), 'a.ts', 'video/mp2t'],
    [bytesOf('G'.repeat(100)), 'a', ''],
    [new Uint8Array(), 'empty.txt', ''],
    [bytesOf('photo.jpg'), 'photo.jpg.txt', ''],
  ]);
  assert.equal((await stripLocation(new Blob(['text']))) instanceof Blob, true);
});

test('leaves BMP, icons of bitmaps and SVG files as they are, unless an SVG has a location or another file', async () => {
  const svg = (content: string): [Bytes, string] => [
    bytesOf(
      `\xef\xbb\xbf<?xml version="1.0"?>\n<!-- A -->\n<!DOCTYPE svg [<!ENTITY a "b">]><svg>${content}</svg>`,
    ),
    'a.svg',
  ];
  await assertFates('same', [
    [bytesOf('BM\x46\0\0\0\0\0\0\0\x36\0\0\0'), 'a.bmp', 'image/bmp'],
    [icon(1, bitmap), 'a.ico', 'image/x-icon'],
    [icon(2, bitmap, bitmap), 'a.cur'],
    svg('<path shape-rendering="geometricPrecision" d="M0 0"/>'),
  ]);
  await assertFates('unsupported', [
    [bytesOf('BM is no header'), 'a.bmp'],
    svg('<rdf:Description exif:GPSLatitude="48,51.5024N"/>'),
    svg('<metadata><geo:lat>48.8584</geo:lat></metadata>'),
    svg('<image href="data:image/jpeg;base64,/9j/"/>'),
    svg(`${' '.repeat(5000)}<geo:lat/>`),
  ]);
});

const bitmap = join(integer(40, 4, true), new Uint8Array(36));
/** Returns an icon (1) or a cursor (2) with these pictures. */
function icon(kind: number, ...pictures: Bytes[]): Bytes {
  let at = 6 + 16 * pictures.length;
  const entries = pictures.map((picture) => {
    at += picture.length;
    return join(
      [1, 1, 0, 0, 1, 0, 32, 0],
      integer(picture.length, 4, true),
      integer(at - picture.length, 4, true),
    );
  });
  return join([0, 0, kind, 0], integer(pictures.length, 2, true), ...entries, ...pictures);
}

test('refuses icons with a PNG, and files that only start as icons do', async () => {
  const whole = icon(1, bitmap);
  await assertFates(
    'unsupported',
    [
      icon(1, png),
      icon(1, bitmap, png),
      icon(1),
      whole.subarray(0, -1),
      join(whole.subarray(0, 14), integer(39, 4, true), whole.subarray(18)),
      join([0, 0, 2, 0], new Uint8Array(14), bytesOf('48.8584')),
      join([0, 0, 2, 0, 9, 0], new Uint8Array(14)),
    ].map((bytes) => [new Uint8Array(bytes), 'a']),
  );
});

test('refuses other images that may have a location, by their content, their end or their name', async () => {
  const space = ' '.repeat(200);
  const contents = {
    XCF: 'gimp xcf v011\0',
    EPS: '%!PS-Adobe-3.0 EPSF-3.0\n',
    'EPS with a preview': '\xc5\xd0\xd3\xc6\x20\0\0\0',
    'Paint Shop Pro': 'Paint Shop Pro Image File\n\x1a',
    'Paint.NET': 'PDN3\0\0',
    FITS: 'SIMPLE  =                    T',
    MNG: '\x8aMNG\r\n',
    JNG: '\x8bJNG\r\n',
    FLIF: 'FLIF43',
    BPG: 'BPG\xfb',
  };
  for (const [format, start] of Object.entries(contents))
    assert.equal(await fate(bytesOf(start + space), 'a', ''), 'unsupported', format);
  assert.equal(await fate(bytesOf(`${space}TRUEVISION-XFILE.\0`), 'a', ''), 'unsupported', 'TGA');
  const names =
    'a.xcf a.eps a.epsf a.epsi a.tga a.psb a.psp a.pspimage a.pdn a.kra a.ora a.fits a.mng a.jng a.dcm';
  for (const name of names.split(' '))
    assert.equal(await fate(bytesOf(space), name, ''), 'unsupported', name);
  // Documents, and recordings of sports watches, whose names are similar.
  await assertFates('same', [
    [bytesOf('%!PS-Adobe-3.0\n'), 'a.ps', 'application/postscript'],
    [bytesOf('TRUEVISION-XFILE. is the end of a TGA file'), 'a.txt', 'text/plain'],
    [bytesOf('\x0e\x10.FIT'), 'a.fit', ''],
  ]);
});

test('reads a file once, also if it is small enough for image-max-edge', async () => {
  const file = new File([littleEndian], 'a.jpg');
  let reads = 0;
  const counted = Object.assign(file, {
    arrayBuffer: () => {
      reads += 1;
      return Blob.prototype.arrayBuffer.call(file);
    },
  });
  let isRead = 0;
  const task = { file: counted, maxEdge: 1000, wanted: 'without-location' } as const;
  const result = await runTask(task, () => {
    isRead += 1;
  });
  assert.ok(result instanceof Blob && result.size < file.size);
  assert.deepEqual([reads, isRead], [1, 1]);
});

test('keeps the type, and rejects if the file can not be read', async () => {
  const result = await strip(littleEndian, 'photo.jpg', 'image/jpeg');
  assert.ok(result !== 'unsupported' && result.type === 'image/jpeg');
  const broken = Object.assign(new Blob([littleEndian]), {
    arrayBuffer: () => Promise.reject(new DOMException('gone', 'NotReadableError')),
  });
  await assert.rejects(stripLocation(broken), { name: 'NotReadableError' });
});

test('refuses a photo that is too large for the memory', async () => {
  const huge = Object.defineProperty(new Blob([littleEndian]), 'size', { value: 2 ** 28 + 1 });
  assert.equal(await stripLocation(huge), 'unsupported');
});
