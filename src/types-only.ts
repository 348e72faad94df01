// What `secure-uploader/jsx`, `/vue` and `/svelte` load at run time: they have types only.
export {};
