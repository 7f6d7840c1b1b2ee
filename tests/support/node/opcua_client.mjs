// node-opcua as the client: connects without security, walks and reads.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(new URL('../../interop/package.json', import.meta.url));
export const opcua = require('node-opcua');

/** Connects and opens an anonymous session; certificates it wants for itself go to `folder`. */
export const connectClient = async (endpoint, folder) => {
    const client = opcua.OPCUAClient.create({
        applicationName: 'tagferry interop test',
        endpointMustExist: false,
        securityMode: opcua.MessageSecurityMode.None,
        securityPolicy: opcua.SecurityPolicy.None,
        connectionStrategy: { maxRetry: 2, initialDelay: 100, maxDelay: 500 },
        clientCertificateManager: new opcua.OPCUACertificateManager({
            rootFolder: join(folder, 'opcua-client-pki'),
        }),
    });
    await client.connect(endpoint);
    const session = await client.createSession();
    return {
        client,
        session,
        read: (nodeId, attributeId = opcua.AttributeIds.Value, maxAge = 1000) =>
            session.read({ nodeId, attributeId }, maxAge),
        close: async () => {
            await session.close();
            await client.disconnect();
        },
    };
};

/** All hierarchical forward references of a node, following continuation points. */
export const browseAll = async (session, nodeId) => {
    let result = await session.browse({
        nodeId,
        referenceTypeId: 'HierarchicalReferences',
        browseDirection: opcua.BrowseDirection.Forward,
        includeSubtypes: true,
        nodeClassMask: 0,
        resultMask: 63,
    });
    const references = [...result.references];
    while (result.continuationPoint && result.continuationPoint.length > 0) {
        result = await session.browseNext(result.continuationPoint, false);
        references.push(...result.references);
    }
    return references;
};

/** Follows browse names from `start`; returns the NodeId at the end or says where it stopped. */
export const walk = async (session, start, names) => {
    let node = start;
    for (const name of names) {
        const found = (await browseAll(session, node)).find((r) => r.browseName.name === name);
        if (!found) {
            throw new Error(`${name} is no child of ${node}`);
        }
        node = found.nodeId;
    }
    return node;
};
