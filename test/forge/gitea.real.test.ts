import { describeForge } from './forge-suite.ts';
import { startGiteaRig } from './gitea-rig.ts';

describeForge('Gitea', startGiteaRig);
