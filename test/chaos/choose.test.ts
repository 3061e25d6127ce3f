import { choosePlan, describePlan, victimsOf } from './choose.ts';

describe('the choices of a round', () => {
  it('are the same for the same seed, and others for another one', () => {
    expect(choosePlan(7)).toEqual(choosePlan(7));
    expect(describePlan(choosePlan(7))).not.toBe(describePlan(choosePlan(8)));
  });

  it('contain every fault of every victim and every kind of step in 400 rounds', () => {
    const plans = Array.from({ length: 400 }, (_, seed) => choosePlan(seed));
    const steps = plans.flatMap((plan) => plan.steps);
    const chosen = new Set(steps.map((step) => (step.do === 'fault' ? `${step.victim} ${step.kind}` : step.do)));
    const victims = plans.flatMap((plan) => Object.entries(victimsOf(plan)));
    const faults = victims.flatMap(([victim, kinds]) => kinds.map((kind) => `${victim} ${kind}`));
    expect(chosen).toEqual(new Set([...faults, 'publish', 'steer', 'lock', 'rollback', 'pin', 'unpin', 'merge']));
  });

  it('harm the object store only if there is a server', () => {
    const plans = Array.from({ length: 100 }, (_, seed) => choosePlan(seed));
    const harmed = plans.filter(({ steps }) => steps.some((step) => step.do === 'fault' && step.victim === 's3'));
    expect(new Set(harmed.map(({ objects }) => objects))).toEqual(new Set(['s3']));
  });
});
