// Describes a view as text, with one line per part: name, values, icons and text of the part.

const ICONS: Readonly<Record<string, string>> = {
  'M10 13V3.5': 'upload',
  'M11.5 2.75': 'file',
  'M2.75 16.2': 'folder',
  'm5 7.5 5 5': 'fold',
  'm4.75 10.5': 'done',
  'M10 4.5v6.': 'alert',
  'M7.25 5v10': 'pause',
  'M6.75 4.75': 'resume',
  'M15.75 10a': 'retry',
  'm5.5 5.5 9': 'close',
  'M6.5 9V6.5': 'lock',
  'M4.5 10v.1': 'more',
  'M7 4.25 3.': 'undo',
};

const iconsOf = (element: Element): string =>
  [...element.querySelectorAll('path')]
    .map((path) => `<${ICONS[path.getAttribute('d')?.slice(0, 10) ?? ''] ?? '?'}>`)
    .join('');

const clean = (text: string | null): string => (text ?? '').replace(/\s+/g, ' ').trim();

/** Returns the text of an element. Facts are joined with the dot that the styles show between them. */
const textOf = (element: Element): string => {
  const facts = [...element.querySelectorAll('.phase, .facts > span')];
  if (facts.length > 0) return clean(facts.map((fact) => fact.textContent).join(' · '));
  // The title says the word of an icon button.
  return element.matches('[title]:has(> .word)') ? '' : clean(element.textContent);
};

const SAID = ['aria-label', 'aria-valuenow', 'aria-valuetext', 'title'] as const;

/** Selector of the elements that have a line. */
const SHOWN = '[part], .title, .hint, [part~=login] .text';

function outlineOfOne(element: Element): string {
  const said = SAID.filter((name) => element.hasAttribute(name)).map(
    (name) => `${name.replace('aria-', '')}=${element.getAttribute(name)}`,
  );
  const shares = [...element.querySelectorAll<HTMLElement>(':scope > span')]
    .filter((span) => span.style.getPropertyValue('--_share'))
    .map((span) => `${span.className} ${span.style.getPropertyValue('--_share')}`);
  const isLeaf = !element.querySelector(SHOWN);
  const part = clean(element.getAttribute('part')) || element.classList.item(0);
  const own = isLeaf && !element.hasAttribute('aria-valuenow') ? iconsOf(element) + textOf(element) : '';
  return [part, ...said, ...shares, own].filter(Boolean).join(' ');
}

/** Returns the lines of all parts and texts inside `element`, in document order. */
export const outlineOf = (element: ParentNode): string[] =>
  [...element.querySelectorAll(SHOWN)].map(outlineOfOne);

/** The parts with which a line of `blocksOf` starts. */
const BLOCK = /^(?:base|notice|rejections|sign-in|cause|list-scroller|file|totals)(?: |$)/;

/** Returns the outline with one line for each row, panel and notice. */
export function blocksOf(element: ParentNode): string[] {
  const blocks: string[] = [];
  for (const line of outlineOf(element))
    if (blocks.length === 0 || BLOCK.test(line)) blocks.push(line);
    else blocks[blocks.length - 1] += ` | ${line}`;
  return blocks;
}
