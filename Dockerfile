# The package of the program, installed on Node's image: about 45 MB more. Build and run it with
#   npm ci && npm run build && npm pack ./package
#   docker build -t trackport .
#   docker run --read-only --tmpfs /tmp -v trackport-data:/var/lib/trackport \
#     -v ./trackport.yaml:/etc/trackport/trackport.yaml:ro -p 8080:8080 trackport
# Where no engine is at hand, deploy/try-image.sh runs the same commands in a clean folder.

FROM node:24-bookworm-slim AS build
WORKDIR /opt/trackport
COPY trackport-*.tgz ./
RUN npm install --ignore-scripts ./trackport-*.tgz && rm trackport-*.tgz

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    PATH=/opt/trackport/node_modules/.bin:$PATH \
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
  CMD ["trackport", "health"]
# Node takes its place as the first process, so that SIGTERM and SIGHUP reach it.
ENTRYPOINT ["trackport"]
CMD ["serve"]
