// In your app, ask your own server for a token of the signed-in user. This is the test token of the reference service.
export const getToken = async (_reason, signal) => {
  const response = await fetch('http://localhost:8787/_test/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user: 'alice' }),
    signal,
  });
  // While the server is down, it is asked again without a click, as without a network.
  if (response.status >= 429) throw new TypeError(`No token: ${response.status}`);
  if (!response.ok) throw new Error(`No token: ${response.status}`);
  return response.json();
};
