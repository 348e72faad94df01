// <secure-uploader> with the attributes and the `getToken` of the README's page.

/** Adds the element to the page, and returns a function that uploads a file with it. */
export async function widget(journey, { service, storage, widgetScript, folder, user }, attributes = {}) {
  await import(widgetScript);
  const element = document.createElement('secure-uploader');
  const settings = {
    'base-url': service,
    'parent-id': folder,
    'commit-path': '/files/uploadsession/commit',
    'upload-origins': storage,
    owner: user,
    multiple: '',
    ...attributes,
  };
  for (const [name, value] of Object.entries(settings)) element.setAttribute(name, value);
  element.getToken = async (reason, signal) => {
    const response = await fetch(`${service}/token`, { method: 'POST', signal });
    if (!response.ok) throw new Error(`No token (${reason})`);
    return response.json();
  };
  const fail = ({ type, detail }) => {
    journey.change('failed', `${type} ${detail.code}`);
    journey.click = () => {
      journey.change('running', 'click');
      // The buttons "Try again" of the sign-in panel and of a file.
      return type === 'auth-failed' ? element.signIn() : element.retry();
    };
  };
  for (const name of ['upload-failed', 'file-rejected']) element.addEventListener(name, fail);
  element.addEventListener('auth-failed', (event) => {
    // With these codes, the element calls `getToken` again without a click.
    if (!['network', 'offline'].includes(event.detail.code)) fail(event);
  });
  // The upload continues: after a new token, or after a reload without its file being picked again.
  for (const name of ['signed-in', 'upload-resumed', 'upload-started'])
    element.addEventListener(name, () => {
      if (journey.state === 'failed' || name !== 'signed-in') journey.change('running', name);
    });
  element.addEventListener('upload-completed', () => journey.change('done'));
  document.body.append(element);
  await element.updateComplete;
  return (file) => element.addFiles([file]);
}
