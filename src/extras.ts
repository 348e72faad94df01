// `dist/cdn/extras.js`: what the one file does not contain, for pages with `keeper-url`, photos or thumbnails. A page loads it with
// a script of its own, so that it can give each file a hash (`integrity`).

import * as keeper from './keeper/keeper-client.ts';
import * as tasks from './photos/photo-tasks.ts';
import * as photos from './photos/photos.ts';
import * as thumbnails from './photos/thumbnails.ts';

Object.assign(globalThis, {
  [Symbol.for('secure-uploader.extras')]: { ...keeper, ...photos, ...tasks, ...thumbnails },
});
