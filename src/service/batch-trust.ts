// Whether calls of a kind go in batches: a table of what is known of them.

/**
 * What is known of the calls of one kind. `new`: nothing. `asking`: the first call has started, alone. `refused`: a call was
 * refused, maybe only that one. `doubted`: a call has failed, maybe for all, whatever the other kind says. Until a single call
 * succeeds, the others wait. `works`: they go in batches. `absent`: files go alone from now on.
 */
export type Trust = 'new' | 'asking' | 'refused' | 'doubted' | 'works' | 'absent';
/**
 * `asks`: a call starts alone. `succeeds`, `refuses`, `fails`: such a call has ended. `loses`: a batch has failed, maybe with the
 * service. `proves`: the service has answered a batch of the other kind. `ends`: it has no batches, or they always fail.
 */
export type TrustEvent = 'asks' | 'succeeds' | 'refuses' | 'fails' | 'loses' | 'proves' | 'ends';

const UNPROVEN_MOVES = { succeeds: 'works', refuses: 'refused', fails: 'doubted', ends: 'absent' } as const;
const NEXT_TRUST: Readonly<Record<Trust, Partial<Record<TrustEvent, Trust>>>> = {
  new: { asks: 'asking', proves: 'works', ends: 'absent' },
  asking: { ...UNPROVEN_MOVES, proves: 'works' },
  refused: { ...UNPROVEN_MOVES, proves: 'works' },
  doubted: UNPROVEN_MOVES,
  works: { loses: 'doubted', ends: 'absent' },
  absent: {},
};

export const trustAfter = (trust: Trust, event: TrustEvent): Trust => NEXT_TRUST[trust][event] ?? trust;

/** Calls that go alone at the same time, so that they leave connections to other files: over HTTP/1.1, browsers have six. */
export const ALONE_AT_ONCE = 3;
/** Number of single calls at the same time while the others wait. One stands for all, unless only the file may be refused. */
export const ASKING: Readonly<Partial<Record<Trust, number>>> = {
  new: 1,
  asking: 1,
  refused: ALONE_AT_ONCE,
  doubted: 1,
};
