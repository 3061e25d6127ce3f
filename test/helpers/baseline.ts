/**
 * Where the tests of upgrades begin: the last commit before the image and the charts had been run in any test. The set-up of
 * the containers' tests reads it here.
 */
export const BASELINE_COMMIT = 'f09dc25bb0d1aa75cf4101778a107aadc0abeb02';
