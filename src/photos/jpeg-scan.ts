// Finds the end of the picture's data in the scans of a JPEG file: behind it, there may be anything. ITU-T T.81, annexes F and G.

import { type Bytes, countTo, fail, type KeptParts } from './bytes.ts';
import { type Component, isRestart, type Jpeg, nextMarker, type Segment } from './jpeg-parts.ts';

/** Blocks of progressive files: the most whose values are remembered (256 megapixels), and the most in all scans. */
const MAX_BLOCKS = 12e6;
const MAX_READ_BLOCKS = 2e8;
/** Tables have these numbers, for the first value of a block and for the others. */
const TABLES = [0, 1, 2, 3, 16, 17, 18, 19];

/** The most missing bits that are read before a unit ends: more than any unit has. */
const MAX_MISSING_BITS = 32_768;

/** For each 16 bits: the length of the code that they start with, times 256, plus its value. */
type Codes = Uint16Array;
const NO_CODES: Codes = new Uint16Array(0);

interface Plane extends Component {
  /** How many blocks a row has in a scan of this component only, and how many rows there are. */
  readonly width: number;
  readonly height: number;
  /** Blocks in a row of whole units, and the rows of these. */
  readonly stride: number;
  readonly rows: number;
  /** Two integers of 32 bits for each block: which of its 64 values are not zero. Empty unless the file is progressive. */
  readonly nonzero: Int32Array;
}

/** How a scan reads a block, and what it does when a run of blocks without codes ends early. */
interface Coding {
  readonly readBlock: (plane: Plane, block: number, dc: Codes, ac: Codes) => void;
  readonly endRun: () => void;
}

/** A component in a scan, and the codes of its blocks. */
interface Part {
  readonly plane: Plane;
  readonly dc: Codes;
  readonly ac: Codes;
}

/** If a scan has one component only, each of its units is one block. */
interface Scan {
  readonly parts: readonly Part[];
  readonly coding: Coding;
  readonly unitsAcross: number;
  readonly unitsDown: number;
}

export class ScanReader {
  readonly #bytes: Bytes;
  readonly #isProgressive: boolean;
  readonly #planes: readonly Plane[];
  readonly #unitsAcross: number;
  readonly #unitsDown: number;
  readonly #codes = new Map<number, Codes>();
  readonly #countTable = countTo();
  #unitsPerRestart = 0;
  #readBlocks = 0;

  // Bits that are read next, from the highest on, how many they are, and how many of them are no longer in the file.
  #bits = 0;
  #bitCount = 0;
  #missingBits = 0;
  #at = 0;

  constructor(bytes: Bytes, { size, components, isProgressive }: Jpeg) {
    this.#bytes = bytes;
    this.#isProgressive = isProgressive;
    const maxAcross = Math.max(...components.map((component) => component.blocksAcross));
    const maxDown = Math.max(...components.map((component) => component.blocksDown));
    this.#unitsAcross = Math.ceil(size.width / (8 * maxAcross));
    this.#unitsDown = Math.ceil(size.height / (8 * maxDown));
    let blocks = 0;
    this.#planes = components.map((component) => {
      const stride = this.#unitsAcross * component.blocksAcross;
      const rows = this.#unitsDown * component.blocksDown;
      const planeBlocks = stride * rows;
      blocks += planeBlocks;
      if (isProgressive && blocks > MAX_BLOCKS) fail();
      return {
        ...component,
        width: Math.ceil(Math.ceil((size.width * component.blocksAcross) / maxAcross) / 8),
        height: Math.ceil(Math.ceil((size.height * component.blocksDown) / maxDown) / 8),
        stride,
        rows,
        nonzero: new Int32Array(isProgressive ? 2 * planeBlocks : 0),
      };
    });
  }

  setRestartInterval(units: number): void {
    this.#unitsPerRestart = units;
  }

  /** Reads the tables of a segment with Huffman codes. Throws if its length is not that of its tables. */
  readCodes({ start, end }: Segment): void {
    const bytes = this.#bytes;
    let at = start + 4;
    while (at < end) {
      this.#countTable();
      const id = bytes[at] ?? fail();
      if (!TABLES.includes(id)) fail();
      const codes = this.#codes.get(id)?.fill(0) ?? new Uint16Array(65536);
      let value = at + 17;
      let code = 0;
      for (let length = 1; length <= 16; length++) {
        for (let remainingCodes = bytes[at + length] ?? fail(); remainingCodes > 0; remainingCodes--) {
          const nextCode = code + (65536 >> length);
          if (nextCode > 65536 || value >= end) fail();
          codes.fill(length * 256 + (bytes[value++] ?? 0), code, nextCode);
          code = nextCode;
        }
      }
      this.#codes.set(id, codes);
      at = value;
    }
    if (at !== end) fail();
  }

  /**
   * Keeps the data of a scan, with its restart markers. Some bits may be missing at the end, or before a restart: browsers show
   * such pictures, and all that is there has been read. Throws if there are other codes than in the tables.
   */
  keepData(header: Segment, keptParts: KeptParts): void {
    const scan = this.#readHeader(header);
    const units = scan.unitsAcross * scan.unitsDown;
    const interval = this.#unitsPerRestart || units;
    let dataStart = header.end;
    this.#restart(dataStart);
    for (let firstUnit = 0; firstUnit < units; firstUnit += interval) {
      if (firstUnit > 0) {
        keptParts.keep(dataStart, this.#end());
        const number = firstUnit / interval;
        dataStart = this.#findRestart(number);
        if (dataStart < 0) return;
        const steps = this.#stepsTo(dataStart, number);
        const isEarly = steps === 1 || steps === 2;
        this.#restart(isEarly ? dataStart : dataStart + 2);
        scan.coding.endRun();
        if (isEarly) continue;
      }
      // If bits are missing, the next interval follows, or the end.
      const end = Math.min(units, firstUnit + interval);
      for (let unit = firstUnit; unit < end && !this.#isShort(); unit++) this.#readUnit(scan, unit);
    }
    keptParts.keep(dataStart, this.#end());
  }

  /**
   * Returns the position of the restart marker for an interval; -1 if none follows. As decoders do: restarts that are late by one
   * or two are skipped, and others that are early come later.
   */
  #findRestart(interval: number): number {
    let at = nextMarker(this.#bytes, this.#at, true);
    while (isRestart(this.#bytes[at + 1]) && this.#stepsTo(at, interval) > 5)
      at = nextMarker(this.#bytes, at + 2, true);
    return isRestart(this.#bytes[at + 1]) ? at : -1;
  }

  /** Returns by how many intervals a restart marker is early. Markers count from zero to seven. */
  #stepsTo(at: number, interval: number): number {
    return ((this.#bytes[at + 1] ?? 0) - interval + 1) & 7;
  }

  /** Reads the header of a scan. Throws if it is malformed, or lacks the tables that the scan needs. */
  #readHeader({ start, end }: Segment): Scan {
    const components = this.#componentsOf(start);
    const [firstValue = 0, lastValue = 0, bits = 0] = this.#bytes.subarray(end - 3, end);
    const isProgressive = this.#isProgressive;
    const coding = isProgressive
      ? this.#progressiveCoding(firstValue, lastValue, bits > 15)
      : { readBlock: this.#readSequential, endRun: () => undefined };
    const needsDc = !isProgressive || (firstValue === 0 && bits < 16);
    const needsAc = !isProgressive || firstValue > 0;
    const parts = components.map(({ plane, tables }) => ({
      plane,
      dc: needsDc ? this.#codesOf(tables >> 4) : NO_CODES,
      ac: needsAc ? this.#codesOf(16 + (tables & 15)) : NO_CODES,
    }));
    const [onlyPart] = parts;
    if (!onlyPart || parts.length > 4 || (isProgressive && firstValue > 0 && parts.length > 1)) fail();
    this.#readBlocks += parts.reduce((sum, { plane }) => sum + plane.stride * plane.rows, 0);
    if (isProgressive && this.#readBlocks > MAX_READ_BLOCKS) fail();
    if (parts.length > 1)
      return { parts, coding, unitsAcross: this.#unitsAcross, unitsDown: this.#unitsDown };
    const plane = { ...onlyPart.plane, blocksAcross: 1, blocksDown: 1 };
    return { parts: [{ ...onlyPart, plane }], coding, unitsAcross: plane.width, unitsDown: plane.height };
  }

  /** Returns the components of a scan, and the numbers of their tables. */
  #componentsOf(start: number): { readonly plane: Plane; readonly tables: number }[] {
    const bytes = this.#bytes;
    const components: { readonly plane: Plane; readonly tables: number }[] = [];
    for (let at = start + 5; components.length < (bytes[start + 4] ?? 0); at += 2) {
      // Components may have the same number: each is used once.
      const isNext = (plane: Plane) =>
        plane.id === bytes[at] && components.every((component) => component.plane !== plane);
      components.push({ plane: this.#planes.find(isNext) ?? fail(), tables: bytes[at + 1] ?? 0 });
    }
    return components;
  }

  #codesOf(table: number): Codes {
    return this.#codes.get(table) ?? fail();
  }

  #readUnit({ parts, coding, unitsAcross }: Scan, unit: number): void {
    const [x, y] = [unit % unitsAcross, Math.floor(unit / unitsAcross)];
    for (const { plane, dc, ac } of parts)
      for (let row = 0; row < plane.blocksDown; row++)
        for (let column = 0; column < plane.blocksAcross; column++) {
          const block = (y * plane.blocksDown + row) * plane.stride + x * plane.blocksAcross + column;
          coding.readBlock(plane, block, dc, ac);
        }
  }

  #restart(at: number): void {
    [this.#at, this.#bits, this.#bitCount, this.#missingBits] = [at, 0, 0, 0];
  }

  /** Returns true if bits were read that are missing. */
  #isShort(): boolean {
    return this.#bitCount < this.#missingBits;
  }

  /** Returns the position behind the last byte of which a bit was read, and continues there. */
  #end(): number {
    const unreadBits = Math.max(0, this.#bitCount - this.#missingBits);
    for (let remainingBytes = unreadBits >> 3; remainingBytes > 0; remainingBytes--) {
      this.#at -= 1;
      // A zero behind 0xff belongs to it.
      if (this.#bytes[this.#at] === 0 && this.#bytes[this.#at - 1] === 0xff) {
        while (this.#bytes[this.#at - 1] === 0xff) this.#at -= 1;
      }
    }
    return this.#at;
  }

  /** Makes sure that 16 bits can be read. Behind the end of the data, they are zero. */
  #fill(): void {
    const bytes = this.#bytes;
    while (this.#bitCount <= 16) {
      let byte = bytes[this.#at] ?? 0;
      let nextAt = this.#at + 1;
      let isMissing = this.#at >= bytes.length;
      if (byte === 0xff) {
        while (bytes[nextAt] === 0xff) nextAt += 1;
        isMissing = bytes[nextAt] !== 0;
        nextAt += 1;
      }
      if (isMissing) {
        byte = 0;
        this.#missingBits += 8;
        if (this.#missingBits > MAX_MISSING_BITS) fail();
      } else this.#at = nextAt;
      this.#bits = (this.#bits << 8) | byte;
      this.#bitCount += 8;
    }
  }

  /** Reads at most 16 bits. */
  #read(count: number): number {
    if (this.#bitCount < count) this.#fill();
    this.#bitCount -= count;
    return (this.#bits >>> this.#bitCount) & ((1 << count) - 1);
  }

  #decode(codes: Codes): number {
    if (this.#bitCount < 16) this.#fill();
    const entry = codes[(this.#bits >>> (this.#bitCount - 16)) & 0xffff] ?? 0;
    if (entry === 0) fail();
    this.#bitCount -= entry >> 8;
    return entry & 255;
  }

  readonly #readSequential: Coding['readBlock'] = (_plane, _block, dc, ac) => {
    this.#skip(this.#decode(dc));
    for (let at = 1; at < 64; at++) {
      const code = this.#decode(ac);
      const size = code & 15;
      if (size) {
        at += code >> 4;
        this.#skip(size);
      } else if (code === 0xf0) at += 15;
      else break;
    }
  };

  #skip(count: number): void {
    if (count > 16) fail();
    if (count) this.#read(count);
  }

  /** Returns how a progressive scan reads a block. `isLater`: the scan makes values more exact. */
  #progressiveCoding(firstValue: number, lastValue: number, isLater: boolean): Coding {
    if (firstValue > lastValue || lastValue > 63 || (firstValue === 0 && lastValue > 0)) fail();
    // How many blocks have no more codes.
    let run = 0;
    const endRun = (): void => {
      run = 0;
    };
    const readRun = (size: number): void => {
      run = (1 << size) + (size ? this.#read(size) : 0);
    };
    if (firstValue === 0)
      return {
        endRun,
        readBlock: (_plane, _block, dc) => (isLater ? void this.#read(1) : this.#skip(this.#decode(dc))),
      };
    const set = ({ nonzero }: Plane, block: number, at: number): void => {
      const word = 2 * block + (at >> 5);
      nonzero[word] = (nonzero[word] ?? 0) | (1 << (at & 31));
    };
    const isSet = ({ nonzero }: Plane, block: number, at: number): boolean =>
      ((nonzero[2 * block + (at >> 5)] ?? 0) & (1 << (at & 31))) !== 0;
    if (!isLater)
      return {
        endRun,
        readBlock: (plane, block, _dc, ac) => {
          if (run > 0) {
            run -= 1;
            return;
          }
          for (let at = firstValue; at <= lastValue; at++) {
            const code = this.#decode(ac);
            const [zeros, size] = [code >> 4, code & 15];
            if (size) {
              at += zeros;
              this.#skip(size);
              if (at <= lastValue) set(plane, block, at);
            } else if (zeros === 15) at += 15;
            else {
              readRun(zeros);
              run -= 1;
              return;
            }
          }
        },
      };
    return {
      endRun,
      readBlock: (plane, block, _dc, ac) => {
        let at = firstValue;
        for (; run === 0 && at <= lastValue; at++) {
          const code = this.#decode(ac);
          let zeros = code >> 4;
          const isNew = (code & 15) > 0;
          if (isNew) this.#read(1);
          else if (zeros < 15) {
            readRun(zeros);
            break;
          }
          // Each value that was not zero before has a bit.
          for (; at <= lastValue; at++) {
            if (isSet(plane, block, at)) this.#read(1);
            else if (zeros-- === 0) break;
          }
          if (isNew && at <= lastValue) set(plane, block, at);
        }
        if (run === 0) return;
        run -= 1;
        if (plane.nonzero[2 * block] || plane.nonzero[2 * block + 1])
          for (; at <= lastValue; at++) if (isSet(plane, block, at)) this.#read(1);
      },
    };
  }
}
