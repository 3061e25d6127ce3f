// Temporal loads this file by its path (see temporal.ts), and so does the bundle of encrypted workflows. It is CommonJS
// because Temporal calls require().
const { DefaultFailureConverter } = require('@temporalio/common');

/** Puts messages and stacks of failures into payloads, which the codec encrypts; Temporal shows `Encoded failure`. */
exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
