/** The fixture by its earlier name. */
export { type Fixture as Bench, openFixture as openBench, type Running } from './fixture.ts';
