/** First message of a worker whose policy forbids the WebAssembly that it needs. Otherwise, the first message is `ready`. */
export const NO_WASM = 'no-wasm';
