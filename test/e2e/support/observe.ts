// Creates a script for pages that observes every change of the document and of each shadow root, from the first node on.

/**
 * Returns the script, which must run before all other scripts of the page. `onRecords` is the JavaScript source of a function that
 * is called with the mutation records.
 */
export const observing = (onRecords: string): string => `{
  const observer = new MutationObserver(${onRecords});
  const watch = (root) => observer.observe(root, {
    subtree: true, childList: true,
    attributes: true, attributeOldValue: true, characterData: true, characterDataOldValue: true,
  });
  watch(document);
  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options);
    watch(root);
    return root;
  };
}`;
