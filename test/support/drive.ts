// A file on a drive that can be removed.

/** Returns `file`, which can be read only while `drive.isAway` is false. */
export function onDrive(file: File, drive: { isAway: boolean }): File {
  const { slice } = file;
  const refuse = (): never => {
    throw new DOMException('The drive is away', 'NotReadableError');
  };
  file.slice = (...range) => {
    const part = slice.apply(file, range);
    const { arrayBuffer, stream } = part;
    part.arrayBuffer = async () => (drive.isAway ? refuse() : arrayBuffer.apply(part));
    part.stream = () => (drive.isAway ? refuse() : stream.apply(part));
    return part;
  };
  return file;
}
