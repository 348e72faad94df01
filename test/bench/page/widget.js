// The widget with default settings, except service, folder, token and several files. The page's server serves the bundle of the
// widget.

/** Adds a <secure-uploader> to the page, and returns an upload with this element. */
export const widget = async ({ service, token, folder, widgetScript, slowFiles, isPicked, isBatched }) => {
  await import(widgetScript);
  await customElements.whenDefined('secure-uploader');
  const element = document.createElement('secure-uploader');
  element.setAttribute('base-url', service);
  element.setAttribute('parent-id', folder);
  element.setAttribute('commit-path', '/files/uploadsession/commit');
  if (isBatched) element.setAttribute('batch-path', '/files/uploadsession/batch');
  element.setAttribute('multiple', '');
  element.getToken = () => token;
  document.body.append(element);
  await element.updateComplete;
  return (files) =>
    new Promise((resolve, reject) => {
      const fail = ({ type, detail }) =>
        reject(new Error(`${type} ${detail.code ?? ''} ${detail.message ?? ''}`));
      for (const name of ['file-rejected', 'upload-failed', 'auth-failed'])
        element.addEventListener(name, fail);
      let doneCount = 0;
      element.addEventListener('upload-completed', () => {
        doneCount += 1;
        if (slowFiles.length > 0 && doneCount === files.length - slowFiles.length) resolve();
      });
      element.addEventListener('uploads-finished', ({ detail }) => {
        if (detail.doneCount === files.length) resolve();
        else reject(new Error(`${detail.doneCount} of ${files.length} files done`));
      });
      if (!isPicked) element.addFiles(files).catch(reject);
    });
};
