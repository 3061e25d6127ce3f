/**
 * The commit that the tests of upgrades start from: the last one before a test ran the image and the charts. The set-up of
 * the containers' tests reads it here.
 */
export const BASELINE_COMMIT = 'f09dc25bb0d1aa75cf4101778a107aadc0abeb02';
