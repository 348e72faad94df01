// Draws pictures into canvases, and finds out whether the browser gives back what was drawn: protections against fingerprinting may
// give back noise or a white picture, without an error.

/** Width and height of the test picture, which has many pixels because noise may change only a few of them. */
const EDGE = 128;
/**
 * Greatest difference of a channel that counts as none. Some browsers change pixels by one or two steps, which can't be seen: JPEG
 * itself changes more.
 */
const MOST_STEPS = 4;

/** Returns a canvas with a picture. With `isOpaque`, transparent parts are white. In a JPEG file, they would be black. */
export function drawImage(
  image: ImageBitmap,
  width: number,
  height: number,
  isOpaque: boolean,
): { readonly canvas: OffscreenCanvas; readonly context: OffscreenCanvasRenderingContext2D } | undefined {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (!context) return undefined;
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, width, height);
  image.close();
  if (isOpaque) fillBehind(context);
  return { canvas, context };
}

export function fillBehind(context: OffscreenCanvasRenderingContext2D): void {
  const { width, height } = context.canvas;
  context.globalCompositeOperation = 'destination-over';
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
}

/**
 * Returns the colors of a pixel of the test picture: gradients, and blocks above them. Noise may leave out areas of one color, or
 * change one channel only.
 */
function colorsAt(x: number, y: number): readonly number[] {
  const block = (((x >> 3) ^ (y >> 3)) * 37) % 256;
  return y < EDGE / 2 ? [x * 2, y * 2, x ^ y] : [block, 255 - block, (block * 5) % 256];
}

/** Returns the test picture as a BMP file, since photos are files, too. Its rows are bottom-up, and its colors are BGR. */
function testPicture(): Blob {
  const head = new DataView(new ArrayBuffer(54));
  head.setUint16(0, 0x424d);
  for (const [at, value] of [
    [2, 54 + EDGE * EDGE * 3],
    [10, 54],
    [14, 40],
    [18, EDGE],
    [22, EDGE],
  ] as const)
    head.setUint32(at, value, true);
  head.setUint16(26, 1, true);
  head.setUint16(28, 24, true);
  const pixels = new Uint8Array(EDGE * EDGE * 3);
  for (let at = 0; at < EDGE * EDGE; at++)
    pixels.set([...colorsAt(at % EDGE, EDGE - 1 - Math.floor(at / EDGE))].reverse(), at * 3);
  return new Blob([head, pixels]);
}

/** Returns true if a canvas gives back the test picture. */
const isTestPicture = (context: OffscreenCanvasRenderingContext2D): boolean =>
  context.getImageData(0, 0, EDGE, EDGE).data.every((value, at) => {
    const pixel = at >> 2;
    const expectedValue = colorsAt(pixel % EDGE, Math.floor(pixel / EDGE))[at % 4] ?? 255;
    return Math.abs(value - expectedValue) <= MOST_STEPS;
  });

/** Resolves with false if a picture that is decoded, drawn and encoded as photos are has other pixels afterwards. */
export async function givesBackPixels(): Promise<boolean> {
  try {
    const firstDrawing = drawImage(await createImageBitmap(testPicture()), EDGE, EDGE, true);
    // Otherwise, reading could undo what encoding has changed.
    if (!firstDrawing || !isTestPicture(firstDrawing.context)) return false;
    // PNG loses nothing.
    const png = await firstDrawing.canvas.convertToBlob({ type: 'image/png' });
    const secondDrawing = drawImage(await createImageBitmap(png), EDGE, EDGE, false);
    return secondDrawing !== undefined && isTestPicture(secondDrawing.context);
  } catch {
    return false;
  }
}
