// The empty module that `secure-uploader/jsx`, `/vue` and `/svelte` load at run time, because these entry points have only types.
export {};
