# The program and its production dependencies, about 130 MB, on Node's image. Build and run it with
#   docker build -t trackport .
#   docker run --read-only --tmpfs /tmp -v trackport-data:/var/lib/trackport \
#     -v ./trackport.yaml:/etc/trackport/trackport.yaml:ro -p 8080:8080 trackport
# Where no engine is at hand, deploy/try-image.sh runs the same commands in a clean folder.

FROM node:24-bookworm-slim AS build
WORKDIR /opt/trackport
COPY package.json package-lock.json .npmrc ./
# The image has Node 24 itself, so the optional one that npm would bring stays out.
RUN npm ci --omit=dev --omit=optional
COPY bin bin
COPY src src
COPY migrations migrations
COPY config config
COPY openapi.json openapi.json
COPY LICENSE LICENSE

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=2 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    MALLOC_MMAP_THRESHOLD_=32768 \
    TRACKPORT_CONFIG=/etc/trackport/trackport.yaml \
    TRACKPORT_SERVER_HOST=0.0.0.0 \
    TRACKPORT_STORE_URL=sqlite:/var/lib/trackport/trackport.db
WORKDIR /opt/trackport
COPY --from=build /opt/trackport /opt/trackport
# The one place that is written; everything else may be mounted read-only.
RUN mkdir -p /var/lib/trackport && chown node:node /var/lib/trackport
VOLUME /var/lib/trackport
USER node
EXPOSE 8080
# It reads the configuration, so that it finds server.opsPort.
HEALTHCHECK --interval=15s --timeout=10s --start-period=20s --retries=3 \
  CMD ["node", "bin/trackport.js", "health"]
# Node is the first process, so that SIGTERM and SIGHUP reach it.
ENTRYPOINT ["node", "--max-semi-space-size=4", "bin/trackport.js"]
CMD ["serve"]
