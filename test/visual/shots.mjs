// The pictures of `npm run test:visual`: every state of the widget in every look, and some more.

const STATES = [
  'empty',
  'rules',
  'dragging',
  'reading',
  'uploading',
  'one',
  'errors',
  'phases',
  'needs-file',
  'names',
  'manual',
  'finished',
  'offline',
  'causes',
  'failures',
  'many',
  'undo',
  'ten-thousand',
  'folders',
  'sign-in-prompt',
  'sign-in-blocked',
  'sign-in-popup',
  'sign-in-lost',
  'sign-in-exchange',
  'sign-in-cooling',
];

/**
 * Looks in which every state is taken. `query` is for the gallery (test/ui/fixtures/gallery.ts), `media` for the browser. The
 * pictures of the states in `stored` are compared; `undefined` means all states.
 */
const LOOKS = {
  light: {},
  dark: {
    media: { colorScheme: 'dark' },
    stored: ['empty', 'uploading', 'errors', 'phases', 'undo', 'sign-in-prompt'],
  },
  rtl: {
    query: { dir: 'rtl', lang: 'ar' },
    stored: ['empty', 'uploading', 'errors', 'names', 'sign-in-prompt'],
  },
  narrow: {
    query: { width: 320 },
    stored: [
      'empty',
      'uploading',
      'errors',
      'names',
      'needs-file',
      'causes',
      'undo',
      'sign-in-popup',
      'finished',
    ],
  },
  zoom: { query: { zoom: 2 }, stored: ['uploading', 'errors', 'undo', 'sign-in-prompt'] },
  forced: { media: { forcedColors: 'active' }, stored: ['empty', 'uploading', 'errors', 'undo'] },
  german: { query: { lang: 'de' }, stored: ['errors', 'offline'] },
};

const byLook = Object.entries(LOOKS).flatMap(([look, { query, media, stored }]) =>
  STATES.map((state) => ({
    name: `${state}-${look}`,
    query: { state, ...query },
    media,
    isStored: stored?.includes(state) ?? true,
  })),
);

const LAYOUTS = ['bar', 'button', 'overlay'].flatMap((layout) => [
  { name: `layout-${layout}`, query: { state: 'rules', layout }, isStored: true },
  { name: `layout-${layout}-narrow`, query: { state: 'rules', layout, width: 280 } },
  { name: `layout-${layout}-files`, query: { state: 'one', layout } },
  { name: `layout-${layout}-dragging`, query: { state: 'dragging', layout }, isStored: layout === 'overlay' },
]);

const DENSITIES = ['uploading', 'errors', 'phases', 'empty'].flatMap((state) => [
  { name: `${state}-compact`, query: { state, density: 'compact' }, isStored: state === 'errors' },
  {
    name: `${state}-compact-narrow`,
    query: { state, density: 'compact', width: 280 },
    isStored: state === 'errors',
  },
]);

/** Width in which rows have one line, but not all facts fit. */
const COMPACT_PX = 556;
const COMPACT = ['uploading', 'folders', 'needs-file', 'causes'].map((state) => ({
  name: `${state}-compact-${COMPACT_PX}`,
  query: { state, density: 'compact', width: COMPACT_PX },
  isStored: true,
}));

const THEMES = ['compact-neutral', 'high-contrast', 'material'].flatMap((theme) =>
  ['light', 'dark'].map((colorScheme) => ({
    name: `theme-${theme}-${colorScheme}`,
    query: { state: 'errors', theme, density: theme.startsWith('compact') ? 'compact' : '' },
    media: { colorScheme },
  })),
);

const NARROW_GERMAN = ['uploading', 'errors', 'phases', 'needs-file', 'offline', 'failures'].map((state) => ({
  name: `${state}-german-narrow`,
  query: { state, lang: 'de', width: 320 },
}));

/** Each with a unique `name`. Pictures with `isStored` are compared with those in test/visual/stored/. */
export const SHOTS = [
  ...byLook,
  ...LAYOUTS,
  ...DENSITIES,
  ...COMPACT,
  ...THEMES,
  ...NARROW_GERMAN,
  { name: 'phases-reduced-motion', query: { state: 'phases' }, media: { reducedMotion: 'reduce' } },
];
