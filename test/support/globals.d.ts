// The names that Web Test Runner's mocha puts into a page: describe, it, before and so on.
/// <reference types="mocha" />
