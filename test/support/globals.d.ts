// The globals that Web Test Runner's mocha defines: describe, it, before and so on.
/// <reference types="mocha" />
