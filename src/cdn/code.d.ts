// `?code` imports the code of a worker as text (`scripts/worker-code.mjs`).

declare module '*?code' {
  const code: string;
  export default code;
}
