// What other pages of the origin do to the storage that this page shares with them.

const PERIOD = 'secure-uploader:period';
let count = 0;

/** Changes the storage in another page of this origin. This page gets an event. */
function changeElsewhere(change: (storage: Storage) => void): void {
  const page = document.createElement('iframe');
  document.body.append(page);
  addEventListener('storage', () => page.remove(), { once: true });
  if (page.contentWindow) change(page.contentWindow.localStorage);
}

const signOutIn = (storage: Storage): void => {
  count += 1;
  storage.setItem(PERIOD, `${count}-of-another-page`);
};

/** Signs out in another page. */
export const signOutElsewhere = (): void => changeElsewhere(signOutIn);

/** Clears the storage in another page. */
export const clearElsewhere = (): void => changeElsewhere((storage) => storage.clear());

/** Signs out in another page while this one gets no events, as in the back/forward cache. */
export const signOutUnnoticed = (): void => signOutIn(localStorage);

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
