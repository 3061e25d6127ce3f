import { readTraceparent } from '../../../contract/trace.ts';
import { addTraces, inSpan } from '../../../workflows/tracing/span.ts';

const traceparent = (number: number): string => `00-${String(number).padStart(32, '0')}-${'1'.repeat(16)}-01`;
const many = Array.from({ length: 100 }, (_, index) => traceparent(index + 1));

describe('the traces of waiting publishes', () => {
  it('are missing if no publish has a trace, as in releases without traces', () => {
    expect(addTraces(undefined, [undefined, undefined])).toEqual({});
  });

  it('are the first one and the newest 19', () => {
    const { traces } = addTraces(addTraces(undefined, many.slice(0, 50)).traces, many.slice(50));
    expect(traces).toEqual([many[0], ...many.slice(-19)]);
  });

  it('are each listed once, and only if they are valid', () => {
    const [one = '', two = ''] = many;
    const invalid = ['', 'x'.repeat(10_000), traceparent(0), `${one}-more`, one.toUpperCase().replace('00-', '01-')];
    expect(addTraces([one], [two, ...invalid, one, two])).toEqual({ traces: [one, two] });
  });
});

describe('a traceparent', () => {
  it('is read into its parts', () => {
    expect(readTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')).toEqual({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      flags: '01',
    });
  });
});

describe('work in a span', () => {
  it('just runs if traces are off, and its own promise is returned', () => {
    const promise = Promise.resolve(1);
    expect(inSpan({ name: 'export', traces: many }, () => promise)).toBe(promise);
  });
});
