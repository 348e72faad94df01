import type { GetToken } from 'secure-uploader';

// In your app, ask your own server for a token of the signed-in user. This is the test token of the reference service.
export const getToken: GetToken = async (_reason, signal) => {
  const response = await fetch('http://localhost:8787/_test/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user: 'alice' }),
    signal,
  });
  if (!response.ok) throw new Error(`No token: ${response.status}`);
  return response.json();
};
