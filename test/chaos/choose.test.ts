import { choosePlan, describePlan, FAULTS } from './choose.ts';

describe('the choices of a round', () => {
  it('are the same for the same seed, and others for another one', () => {
    expect(choosePlan(7)).toEqual(choosePlan(7));
    expect(describePlan(choosePlan(7))).not.toBe(describePlan(choosePlan(8)));
  });

  it('contain every fault of every victim and every kind of step in 100 rounds', () => {
    const steps = Array.from({ length: 100 }, (_, seed) => choosePlan(seed)).flatMap((plan) => plan.steps);
    const chosen = new Set(steps.map((step) => (step.do === 'fault' ? `${step.victim} ${step.kind}` : step.do)));
    const faults = Object.entries(FAULTS).flatMap(([victim, kinds]) => kinds.map((kind) => `${victim} ${kind}`));
    expect(chosen).toEqual(new Set([...faults, 'publish', 'steer', 'lock', 'rollback', 'pin', 'unpin']));
  });

  it('harm the object store only if there is a server', () => {
    const plans = Array.from({ length: 100 }, (_, seed) => choosePlan(seed));
    const harmed = plans.filter(({ steps }) => steps.some((step) => step.do === 'fault' && step.victim === 's3'));
    expect(new Set(harmed.map(({ objects }) => objects))).toEqual(new Set(['s3']));
  });
});
