// Loaded before a program on a Node.js of the tests: the library is found beside that one, not in this project.
import { registerHooks } from 'node:module';

const parentURL = process.env.KAFKA_LIBRARY;
registerHooks({
  resolve: (name, context, next) => next(name, name === '@platformatic/kafka' ? { ...context, parentURL } : context),
});
