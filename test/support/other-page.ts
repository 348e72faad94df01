// What other pages of the origin do to the storage that this page shares with them, and what they tell it.

const PERIOD = 'secure-uploader:period';
const CHANNEL = 'secure-uploader:sign-out';
let number = 0;

type Page = Window & typeof globalThis;

/** Acts in another page of this origin. This page gets the events of it. */
function actElsewhere(act: (page: Page) => void): void {
  const frame = document.createElement('iframe');
  document.body.append(frame);
  addEventListener('storage', () => frame.remove(), { once: true });
  if (frame.contentWindow) act(frame.contentWindow as Page);
}

/** Replaces the period in the storage, as a sign-out does. Returns the new one. */
function signOutIn(storage: Storage): string {
  number += 1;
  const count = Number.parseInt(storage.getItem(PERIOD) ?? '0', 10) + 1;
  const period = `${count}-of-another-page-${number}`;
  storage.setItem(PERIOD, period);
  return period;
}

/** Says in another page that a sign-out has started this period. */
function tellFrom({ BroadcastChannel }: Page, period: string): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(period);
  channel.close();
}

/** Signs out in another page. */
export const signOutElsewhere = (): void =>
  actElsewhere((page) => tellFrom(page, signOutIn(page.localStorage)));

/** Signs out in another page, which clears the storage in the same task. */
export const signOutAndClearElsewhere = (): void =>
  actElsewhere((page) => {
    tellFrom(page, signOutIn(page.localStorage));
    page.localStorage.clear();
  });

/** Clears the storage in another page. */
export const clearElsewhere = (): void => actElsewhere(({ localStorage }) => localStorage.clear());

/** Signs out in another page, whose message comes, but whose change of the storage is not there yet. Returns a function for it. */
export function signOutByMessage(): () => void {
  number += 1;
  const count = Number.parseInt(localStorage.getItem(PERIOD) ?? '0', 10) + 1;
  const period = `${count}-of-another-page-${number}`;
  tellFrom(window, period);
  return () => actElsewhere(({ localStorage }) => localStorage.setItem(PERIOD, period));
}

/** Signs out in another page while this one gets no events, as in the back/forward cache. */
export const signOutUnnoticed = (): void => void signOutIn(localStorage);

/** Like `signOutUnnoticed()`. Then the other page clears the storage. */
export function signOutAndClearUnnoticed(): void {
  signOutUnnoticed();
  localStorage.clear();
}

/** Calls `change` while this page is in the back/forward cache, and shows the page again. */
export function inCache(change: () => void): void {
  change();
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
}

/** Calls `change` while this page is frozen, as the browser does with tabs in the background. */
export function whileFrozen(change: () => void): void {
  change();
  document.dispatchEvent(new Event('resume'));
}
