// The page of a journey. `journey.state` is `idle` until the client has a file, then `running`, `failed` or `done`;
// `journey.click()` is what the button for a retry does.
import { goldenRetriever, tusJs, uppyS3 } from './peers.js';
import { widget } from './widget.js';

const clients = {
  'secure-uploader': (journey, place) => widget(journey, place),
  'secure-uploader-keeper': (journey, place) => widget(journey, place, { 'keeper-url': '/file-keeper.js' }),
  'tus-js': tusJs,
  'uppy-s3': uppyS3,
  'uppy-golden-retriever': goldenRetriever,
};

const journey = {
  state: 'idle',
  log: [],
  click: () => undefined,
  /** Changes the state, and notes why. */
  change(state, why) {
    journey.state = state;
    if (why !== undefined) journey.log.push(String(why).slice(0, 120));
  },
  /** Starts the client `place.client`, which calls `take(file)` for the file that the user picks. */
  async start(place) {
    const take = await clients[place.client](journey, place);
    document.querySelector('input').addEventListener('change', ({ target }) => {
      journey.change('running');
      take(target.files[0]).catch((error) => journey.change('failed', error));
    });
  },
};
window.journey = journey;
