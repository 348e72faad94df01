declare module 'pngjs' {
  export const PNG: { sync: { read(bytes: Buffer): { width: number; height: number; data: Buffer } } };
}
