import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { endWithConnection } from '../../api/closed-connection.ts';

/**
 * For connections of tests: as patient as the SDK's default, but a retry that waits when the connection closes doesn't
 * end the process with the next test file.
 */
export const PATIENT_CONNECTION: Pick<ConnectionOptions, 'interceptors'> = {
  interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endWithConnection],
};
