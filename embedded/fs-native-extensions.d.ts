/** Types for what is used: the package publishes none. */
declare module 'fs-native-extensions' {
  /**
   * Takes a lock of the operating system on an open file, which ends with the file descriptor or the process. False if
   * another descriptor, of whichever process, has it. Throws a system error, such as one with the code ENOLCK.
   */
  export function tryLock(fd: number, options?: { shared?: boolean }): boolean;
}
