/** Lets the browser open a connection to the origin of each URL, so that the next request does not wait for it. */
export function preconnect(urls: readonly string[]): void {
  for (const url of urls) {
    const { origin } = new URL(url);
    if (origin === location.origin || !globalThis.document) continue;
    const link = document.createElement('link');
    link.rel = 'preconnect';
    link.href = origin;
    // Requests without cookies have connections of their own.
    link.crossOrigin = 'anonymous';
    document.head.append(link);
    link.remove();
  }
}
