// Writes docs/parts.png, the picture of the parts, and their names into docs/theming.md: `node scripts/parts-picture.mjs`. Run it
// after a change of what the picture shows.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { startPictures } from '../test/e2e/support/pictures.mjs';

const docs = fileURLToPath(new URL('../docs/', import.meta.url));

/** The parts on each side, from top to bottom, each with the element that has it if it is not the first one. */
const SIDES = {
  left: [
    ['base'],
    ['rejections'],
    ['cause'],
    ['cause-icon'],
    ['file'],
    ['file-icon'],
    ['file-status'],
    ['error', '.row [part~=error]'],
    ['totals'],
    ['headline'],
    ['totals-status'],
  ],
  right: [
    ['drop-zone'],
    ['button', '.zone [data-action=folder]'],
    ['rejection-reason'],
    ['rejection'],
    ['file-name'],
    ['icon-button', '.row [data-action=end]'],
    ['progress'],
    ['total-progress'],
    ['menu', '.bulk .menu'],
  ],
};

/** Shows what has all of these parts, with an open menu and the names beside it. Runs in the page. */
async function draw(sides) {
  const { file, snapshot } = await import('/demo/states/snapshots.ts');
  const element = document.querySelector('widget-fixture');
  const away = { error: { code: 'network', retryable: true } };
  const rejection = {
    id: 'r',
    name: 'setup.exe',
    relativePath: 'setup.exe',
    sizeBytes: 1,
    code: 'file-type-refused',
    limit: '.pdf',
  };
  const sending = { bytesPerSecond: 8.24e6, remainingMs: 25_000 };
  const files = [
    file('recording.mp4', 'uploading', 4.7e9, 0.1, sending),
    file('Quarterly report.pdf', 'failed', 12.4e6, 0, { error: { code: 'timeout', retryable: true } }),
    file('harbour.jpg', 'failed', 3.1e6, 0, away),
    file('sunset.jpg', 'failed', 2.8e6, 0, away),
  ];
  await element.show(snapshot(files, { rejections: [rejection] }));
  const { renderRoot: root } = element;
  for (const property of ['background', 'margin'])
    document.body.style[property] = property === 'margin' ? '24px 0 0 0' : '#fff';
  root.querySelector('.bulk .menu').showPopover();
  await new Promise((resolve) =>
    root.querySelector('.bulk .menu').addEventListener('toggle', resolve, { once: true }),
  );
  // Its shadow has many colors.
  root.querySelector('.bulk .menu').style.boxShadow = 'none';
  root.activeElement?.blur();
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const add = (name, attributes, text = '') => {
    const part = document.createElementNS(svg.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    part.textContent = text;
    svg.append(part);
  };
  const box = element.getBoundingClientRect();
  const ink = '#9f1f45';
  for (const [side, parts] of Object.entries(sides)) {
    const isLeft = side === 'left';
    let free = 0;
    const targets = parts.map(([name, selector = `[part~=${name}]`]) => {
      const { left, right, top, height } = root.querySelector(selector).getBoundingClientRect();
      // What contains others is shown at its first line.
      return { name, x: isLeft ? left : right, y: top + Math.min(height / 2, 14) };
    });
    for (const { name, x, y } of targets.toSorted((one, other) => one.y - other.y)) {
      const at = Math.max(y, free);
      free = at + 17;
      const edge = isLeft ? box.left - 22 : box.right + 22;
      const bend = isLeft ? box.left - 6 : box.right + 6;
      const end = isLeft ? Math.min(x, box.left + 400) - 3 : Math.max(x, box.right - 500) + 3;
      add('path', { d: `M${edge} ${at}L${bend} ${y}L${end} ${y}`, fill: 'none', stroke: ink });
      add('circle', { cx: end, cy: y, r: 2, fill: ink });
      add(
        'text',
        {
          x: isLeft ? edge - 4 : edge + 4,
          y: at + 4,
          fill: ink,
          'text-anchor': isLeft ? 'end' : 'start',
          'font-family': 'monospace',
          'font-size': 12,
        },
        name,
      );
    }
  }
  const { bottom } = root.querySelector('.bulk .menu').getBoundingClientRect();
  svg.setAttribute('width', innerWidth);
  svg.setAttribute('height', bottom + 24);
  svg.setAttribute('popover', 'manual');
  Object.assign(svg.style, {
    position: 'fixed',
    inset: '0',
    pointerEvents: 'none',
    overflow: 'visible',
    border: '0',
    padding: '0',
    margin: '0',
    background: 'none',
  });
  document.body.append(svg);
  return bottom + 24;
}

/** Returns a PNG with a palette, which is a quarter of the size. */
function withFewColors({ width, height, data }) {
  const palette = [];
  const indexes = new Map();
  const lines = Buffer.alloc(height * (width + 1));
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const color = [0, 1, 2].map((channel) => Math.round(data[pixel * 4 + channel] / 17) * 17);
    const key = color.join();
    if (!indexes.has(key)) indexes.set(key, palette.push(color) - 1);
    // The first byte of a line is its filter: none.
    lines[pixel + Math.floor(pixel / width) + 1] = indexes.get(key);
  }
  if (palette.length > 256) throw new Error(`there are ${palette.length} colors`);
  const chunk = (type, body) => {
    const named = Buffer.concat([Buffer.from(type), body]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(body.length, 0);
    ends.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
  };
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const pictures = await startPictures();
const page = await pictures.browser.newPage({
  viewport: { width: 900, height: 2400 },
  deviceScaleFactor: 1400 / 900,
});
page.on('pageerror', (error) => console.error(error.message));
await page.goto(`${pictures.origin}/test/ui/fixtures/gallery.html?state=empty&width=560`);
await page.waitForSelector('widget-fixture[data-is-shown]', { state: 'attached' });
const height = await page.evaluate(draw, SIDES);
const shot = await page.screenshot({ clip: { x: 0, y: 0, width: 900, height } });
await writeFile(`${docs}parts.png`, withFewColors(PNG.sync.read(shot)));
await pictures.close();
const names = Object.values(SIDES)
  .flat()
  .map(([name]) => name);
const text = await readFile(`${docs}theming.md`, 'utf8');
await writeFile(
  `${docs}theming.md`,
  text.replace(/(?<=!\[The parts of the uploader: ).+(?=\]\(parts\.png\))/, names.join(', ')),
);
