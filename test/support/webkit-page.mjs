// Implements the part of puppeteer's page that sendKeys, sendMouse and setViewport of @web/test-runner-commands and the report of
// unended tests use. Uses only WebDriver.
const keys = {
  Backspace: '\uE003',
  Tab: '\uE004',
  Enter: '\uE007',
  Shift: '\uE008',
  Control: '\uE009',
  Alt: '\uE00A',
  Escape: '\uE00C',
  Space: ' ',
  PageUp: '\uE00E',
  PageDown: '\uE00F',
  End: '\uE010',
  Home: '\uE011',
  ArrowLeft: '\uE012',
  ArrowUp: '\uE013',
  ArrowRight: '\uE014',
  ArrowDown: '\uE015',
  Delete: '\uE017',
  Meta: '\uE03D',
};

/** Returns a page that uses `command(method, path, body)`, which sends one WebDriver command to the session of the page. */
export function webkitPage(command) {
  const act = (type, id, actions) => command('POST', '/actions', { actions: [{ type, id, actions }] });
  const keyboard = (actions) => act('key', 'keyboard', actions);
  const pointer = (actions) => act('pointer', 'mouse', actions);
  const key = (type, name) => ({ type, value: keys[name] ?? name });
  const buttons = { left: 0, middle: 1, right: 2 };
  const move = (x, y) => ({ type: 'pointerMove', duration: 0, x, y, origin: 'viewport' });
  const button = (type, name = 'left') => ({ type, button: buttons[name] });
  return {
    /** Runs a function without parameters in the page. */
    evaluate: async (work) => command('POST', '/execute/sync', { script: `return (${work})()`, args: [] }),
    keyboard: {
      type: (text) => keyboard([...text].flatMap((letter) => [key('keyDown', letter), key('keyUp', letter)])),
      down: (name) => keyboard([key('keyDown', name)]),
      up: (name) => keyboard([key('keyUp', name)]),
      press: (names) => {
        const held = names.length > 1 ? names.split('+') : [names];
        const released = [...held].reverse();
        return keyboard([
          ...held.map((name) => key('keyDown', name)),
          ...released.map((name) => key('keyUp', name)),
        ]);
      },
    },
    mouse: {
      move: (x, y) => pointer([move(x, y)]),
      click: (x, y, options) =>
        pointer([move(x, y), button('pointerDown', options?.button), button('pointerUp', options?.button)]),
      down: (options) => pointer([button('pointerDown', options?.button)]),
      up: (options) => pointer([button('pointerUp', options?.button)]),
      reset: () => command('DELETE', '/actions'),
    },
    /**
     * Sets the size of the page. WebDriver sets only the size of the window, so the difference between window and page is measured
     * and added.
     */
    async setViewport({ width, height }) {
      await command('POST', '/window/rect', { width, height });
      const script = 'return [window.innerWidth, window.innerHeight]';
      const [innerWidth, innerHeight] = await command('POST', '/execute/sync', { script, args: [] });
      await command('POST', '/window/rect', {
        width: 2 * width - innerWidth,
        height: 2 * height - innerHeight,
      });
    },
  };
}
