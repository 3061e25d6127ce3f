#!/usr/bin/env node
console.log('galley');
