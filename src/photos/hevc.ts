// Reads what a decoder of HEVC gets: units, and the size in the parameters of a sequence. ITU-T H.265, 7.3.

import { type Bytes, bitReader, countTo, fail, type Size } from './bytes.ts';

/** Where a unit starts and ends, without its length. */
export interface Unit {
  readonly type: number;
  readonly start: number;
  readonly end: number;
}

/** The most units in the configuration of a decoder: it has about three, and each picture that uses it reads them. */
const MOST_PARAMETERS = 50;
/** Parameters of a sequence. */
export const SEQUENCE = 33;
/** Types of units that decoders read: pictures, and parameters. Others have texts of encoders, or nothing. */
export const isNeeded = (type: number): boolean => type < 32 || (type >= 32 && type <= 34);

function unitAt(bytes: Uint8Array, start: number, end: number): Unit {
  if (end > bytes.length || end - start < 2) fail();
  return { type: ((bytes[start] ?? 0) >> 1) & 63, start, end };
}

/** Returns the units in the data of a picture, whose lengths have so many bytes. Ends where no unit can follow. */
export function unitsIn(bytes: Bytes, bytesOfLength: number): Unit[] {
  const units: Unit[] = [];
  const count = countTo();
  for (let at = 0; at + bytesOfLength < bytes.length; ) {
    count();
    let length = 0;
    for (let remainingBytes = bytesOfLength; remainingBytes > 0; remainingBytes--)
      length = length * 256 + (bytes[at++] ?? 0);
    const unit = unitAt(bytes, at, at + length);
    units.push(unit);
    at = unit.end;
  }
  return units;
}

/** Returns the units in the configuration of a decoder (`hvcC`), and where they end. */
export function unitsOfConfiguration(bytes: Bytes): { readonly units: Unit[]; readonly end: number } {
  const uint16 = (at: number) => (bytes[at] ?? fail()) * 256 + (bytes[at + 1] ?? fail());
  const units: Unit[] = [];
  const count = countTo(MOST_PARAMETERS);
  let at = 23;
  for (let lists = bytes[22] ?? fail(); lists > 0; lists--) {
    let remainingUnits = uint16(at + 1);
    for (at += 3; remainingUnits > 0; remainingUnits--) {
      count();
      const unit = unitAt(bytes, at + 2, at + 2 + uint16(at));
      units.push(unit);
      at = unit.end;
    }
  }
  return { units, end: at };
}

/** Returns the bytes of lengths of units by the configuration of a decoder. */
export const bytesOfLength = (configuration: Uint8Array): number => ((configuration[21] ?? 0) & 3) + 1;

/** Returns the size of a sequence by its parameters. Decoders cut it to the size of the picture. */
export function sizeOfSequence(bytes: Bytes, { start, end }: Unit): Size {
  // Behind two zeros, 3 is no part of the content.
  const content: number[] = [];
  for (let at = start + 2, zeros = 0; at < Math.min(end, start + MOST_PARAMETER_BYTES); at++) {
    const byte = bytes[at] ?? 0;
    if (zeros < 2 || byte !== 3) content.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  const read = bitReader(content);
  function readCode(): number {
    let zeros = 0;
    while (read(1) === 0) if (zeros++ > 31) fail();
    return 2 ** zeros - 1 + read(zeros);
  }
  read(4);
  const layers = read(3);
  read(1 + 88);
  read(8);
  const flags = Array.from({ length: layers }, () => [read(1), read(1)] as const);
  if (layers > 0) read(2 * (8 - layers));
  for (const [hasProfile, hasLevel] of flags) read((hasProfile ? 88 : 0) + (hasLevel ? 8 : 0));
  readCode();
  if (readCode() === 3) read(1);
  return { width: readCode(), height: readCode() };
}

/** The most bytes of parameters that are read: the size comes early. */
const MOST_PARAMETER_BYTES = 256;
