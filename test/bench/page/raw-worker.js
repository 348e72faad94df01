// Runs raw-balanced in a worker, whose requests do not wait for the page's thread.
import { rawBalanced } from './raw.js';

self.onmessage = async ({ data: { place, files } }) => {
  try {
    await rawBalanced(place)(files);
    postMessage({});
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
