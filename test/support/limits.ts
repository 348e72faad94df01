// Every absolute time that a test depends on, in one list, with the reason. All other tests measure order and counts only.

/** No task on the page's thread may be longer while files are taken into the list: a person would notice. Milliseconds. */
export const LONGEST_TASK_MS = 50;
