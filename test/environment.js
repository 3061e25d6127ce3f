import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

const { createContext } = vm;

/**
 * Jest's environment for Node with plain globals. Jest's own context looks up each global (`Buffer`, `Math`, `Object`)
 * through an interceptor and a proxy, which makes code in tests several times slower.
 */
export default class PlainEnvironment extends TestEnvironment {
  constructor(config, context) {
    // Jest has no option for the context, so it is exchanged while Jest creates it.
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
  }
}
